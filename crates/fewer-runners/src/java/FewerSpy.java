// Tells fewer, while Maven builds, which modules there are, what is on their class paths, and how test runs ended.
// It changes nothing. One line of JSON per fact goes to the file that the environment names.
package fewer;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.eventspy.AbstractEventSpy;
import org.apache.maven.execution.ExecutionEvent;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.model.Resource;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.project.MavenProject;

@Named("fewer")
@Singleton
public class FewerSpy extends AbstractEventSpy {
    private static final List<String> LATER = Arrays.asList("prepare-package", "package", "pre-integration-test",
            "integration-test", "post-integration-test", "verify", "install", "deploy");
    private final String file = System.getenv("FEWER_EVENTS");

    @Override
    public void onEvent(Object event) {
        if (file == null || !(event instanceof ExecutionEvent)) {
            return;
        }
        ExecutionEvent execution = (ExecutionEvent) event;
        try {
            switch (execution.getType()) {
                case SessionStarted:
                    session(execution);
                    break;
                case ProjectSucceeded:
                case ProjectFailed:
                    module(execution.getProject());
                    break;
                case MojoStarted:
                    mojo(execution, "started");
                    break;
                case MojoSucceeded:
                    mojo(execution, "succeeded");
                    break;
                case MojoFailed:
                    mojo(execution, "failed");
                    break;
                default:
                    break;
            }
        } catch (Exception | LinkageError problem) {
            append(line("problem", text("what", execution.getType() + ": " + problem)));
        }
    }

    private void session(ExecutionEvent event) {
        List<String> directories = new ArrayList<>();
        List<String> notRun = new ArrayList<>();
        for (MavenProject project : event.getSession().getProjects()) {
            directories.add(project.getBasedir().getPath());
            for (Plugin plugin : project.getBuildPlugins()) {
                notRun.addAll(laterTests(project, plugin));
            }
        }
        append(line("session", list("modules", directories), text("java_home", System.getProperty("java.home")),
                text("java", System.getProperty("java.vendor") + " " + System.getProperty("java.vm.version")), list("not_run", notRun)));
    }

    // The test runs of a plugin that come after the phase `test`.
    private static List<String> laterTests(MavenProject project, Plugin plugin) {
        boolean isFailsafe = plugin.getArtifactId().equals("maven-failsafe-plugin");
        boolean isSurefire = plugin.getArtifactId().equals("maven-surefire-plugin");
        List<String> later = new ArrayList<>();
        for (PluginExecution execution : plugin.getExecutions()) {
            boolean isLate = isFailsafe ? !"none".equals(execution.getPhase()) : isSurefire && LATER.contains(execution.getPhase());
            if (isLate) {
                later.add(plugin.getArtifactId() + " (" + execution.getId() + ") of " + project.getArtifactId());
            }
        }
        return later;
    }

    private void module(MavenProject project) {
        List<String> resources = new ArrayList<>();
        for (Resource resource : project.getBuild().getResources()) {
            resources.add(resource.getDirectory());
        }
        for (Resource resource : project.getBuild().getTestResources()) {
            resources.add(resource.getDirectory());
        }
        List<String> sources = new ArrayList<>(project.getCompileSourceRoots());
        sources.addAll(project.getTestCompileSourceRoots());
        List<String> dependencies = new ArrayList<>();
        for (Artifact artifact : project.getArtifacts()) {
            File file = artifact.getFile();
            dependencies.add(object(text("name", artifact.getDependencyConflictId()), text("version", artifact.getVersion()),
                    text("path", file == null ? "" : file.getPath())));
        }
        append(line("module", text("directory", project.getBasedir().getPath()), text("build", project.getBuild().getDirectory()),
                list("classes", Collections.singleton(project.getBuild().getOutputDirectory())),
                list("test_classes", Collections.singleton(project.getBuild().getTestOutputDirectory())), list("sources", sources),
                list("resources", resources), "\"dependencies\": [" + String.join(", ", dependencies) + "]"));
    }

    private void mojo(ExecutionEvent event, String end) throws Exception {
        MojoExecution mojo = event.getMojoExecution();
        boolean isTest = mojo.getArtifactId().equals("maven-surefire-plugin") && mojo.getGoal().equals("test");
        if (!isTest && !end.equals("failed")) {
            return;
        }
        String message = event.getException() == null ? "" : String.valueOf(event.getException().getMessage());
        append(line(isTest ? "tests" : "goal", text("end", end), text("directory", event.getProject().getBasedir().getPath()),
                text("goal", mojo.getArtifactId() + ":" + mojo.getGoal() + " (" + mojo.getExecutionId() + ")"),
                text("reports", isTest ? reports(event) : ""), text("message", message)));
    }

    private String reports(ExecutionEvent event) throws Exception {
        MojoExecution mojo = event.getMojoExecution();
        String said = null;
        if (mojo.getConfiguration() != null && mojo.getConfiguration().getChild("reportsDirectory") != null) {
            said = mojo.getConfiguration().getChild("reportsDirectory").getValue();
            if (said == null) {
                said = mojo.getConfiguration().getChild("reportsDirectory").getAttribute("default-value");
            }
        }
        if (said == null) {
            said = "${project.build.directory}/surefire-reports";
        }
        Object path = new PluginParameterExpressionEvaluator(event.getSession(), mojo).evaluate(said, File.class);
        File file = path instanceof File ? (File) path : new File(String.valueOf(path));
        return (file.isAbsolute() ? file : new File(event.getProject().getBasedir(), file.getPath())).getPath();
    }

    private synchronized void append(String line) {
        try {
            Files.write(Paths.get(file), line.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException problem) {
            System.err.println("fewer cannot be told what Maven does: " + problem);
        }
    }

    private static String line(String event, String... members) {
        return "{\"event\": " + quoted(event) + ", " + String.join(", ", members) + "}\n";
    }

    private static String object(String... members) {
        return "{" + String.join(", ", members) + "}";
    }

    private static String text(String name, String value) {
        return quoted(name) + ": " + quoted(value == null ? "" : value);
    }

    private static String list(String name, Collection<String> values) {
        List<String> items = new ArrayList<>();
        for (String value : values) {
            items.add(quoted(value == null ? "" : value));
        }
        return quoted(name) + ": [" + String.join(", ", items) + "]";
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(String.format("\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
