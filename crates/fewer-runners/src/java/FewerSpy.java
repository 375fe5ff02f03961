// Tells fewer, while Maven builds, which modules there are, what is on their class paths, and how test runs ended: one
// line of JSON per fact, to the file that the environment names. Takes the classes that need not run out of Surefire's
// runs by adding to the excludes that the POM gives it, and changes nothing else of what the POM says about them.
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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.eventspy.AbstractEventSpy;
import org.apache.maven.execution.ExecutionEvent;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.lifecycle.LifecycleExecutor;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.model.Resource;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.PlexusContainer;
import org.codehaus.plexus.util.xml.Xpp3Dom;

@Named("fewer")
@Singleton
public class FewerSpy extends AbstractEventSpy {
    private static final List<String> LATER = Arrays.asList("prepare-package", "package", "pre-integration-test",
            "integration-test", "post-integration-test", "verify", "install", "deploy");
    // What Surefire leaves out by itself as long as nothing else is excluded.
    private static final String USUAL_EXCLUDE = "**/*$*";
    private final String file = System.getenv("FEWER_EVENTS");
    // Per line the directory of a module, a tab, and a class that need not run; without a class, none of its tests need.
    private final String selection = System.getenv("FEWER_SELECTION");
    private final Set<String> failed = new HashSet<>();
    private PlexusContainer container;

    @Override
    public void init(Context context) {
        container = (PlexusContainer) context.getData().get("plexus");
    }

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
                    module(execution);
                    break;
                case ProjectFailed:
                    module(execution);
                    projectFailed(execution);
                    break;
                case MojoStarted:
                    if (isTest(execution.getMojoExecution())) {
                        tests(execution, "started", narrow(execution));
                    }
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

    private void module(ExecutionEvent event) throws Exception {
        MavenProject project = event.getProject();
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
                list("resources", resources), "\"dependencies\": [" + String.join(", ", dependencies) + "]", list("goals", goals(event)),
                "\"has_excludes\": " + hasExcludes(project)));
    }

    // Whether the POM says itself what Surefire leaves out.
    private static boolean hasExcludes(MavenProject project) {
        Plugin surefire = project.getPlugin("org.apache.maven.plugins:maven-surefire-plugin");
        if (surefire == null) {
            return false;
        }
        List<Object> configurations = new ArrayList<>(Collections.singleton(surefire.getConfiguration()));
        for (PluginExecution execution : surefire.getExecutions()) {
            configurations.add(execution.getConfiguration());
        }
        for (Object configuration : configurations) {
            Xpp3Dom excludes = configuration instanceof Xpp3Dom ? ((Xpp3Dom) configuration).getChild("excludes") : null;
            if (excludes != null && (excludes.getChildCount() > 0 || excludes.getValue() != null)) {
                return true;
            }
        }
        return false;
    }

    // What else the phase `test` does.
    private List<String> goals(ExecutionEvent event) {
        List<String> goals = new ArrayList<>();
        if (selection != null) {
            return goals;
        }
        try {
            foretell(event, goals);
        } catch (Exception | LinkageError problem) {
            goals.add("what cannot be foretold (" + problem + ")");
        }
        return goals;
    }

    private void foretell(ExecutionEvent event, List<String> goals) throws Exception {
        MavenSession session = event.getSession().clone();
        session.setCurrentProject(event.getProject());
        LifecycleExecutor lifecycle = container.lookup(LifecycleExecutor.class);
        for (MojoExecution mojo : lifecycle.calculateExecutionPlan(session, false, "test").getMojoExecutions()) {
            if ("test".equals(mojo.getLifecyclePhase()) && !isTest(mojo)) {
                goals.add(name(mojo));
            }
        }
    }

    private void mojo(ExecutionEvent event, String end) throws Exception {
        MojoExecution mojo = event.getMojoExecution();
        if (end.equals("failed")) {
            failed.add(directory(event));
        }
        if (isTest(mojo)) {
            tests(event, end, "");
        } else if (end.equals("failed")) {
            append(line("goal", text("end", end), text("directory", directory(event)), text("goal", name(mojo)),
                    text("message", message(event))));
        }
    }

    private void tests(ExecutionEvent event, String end, String whole) throws Exception {
        append(line("tests", text("end", end), text("directory", directory(event)), text("goal", name(event.getMojoExecution())),
                text("reports", reports(event)), text("message", message(event)), text("whole", whole)));
    }

    // A module may fail without a goal of it: where its dependencies cannot be found, say.
    private void projectFailed(ExecutionEvent event) {
        if (failed.add(directory(event))) {
            append(line("goal", text("end", "failed"), text("directory", directory(event)), text("goal", "the module"),
                    text("message", message(event))));
        }
    }

    // Excludes what need not run. Where the POM names its tests in a way to which nothing can be added, everything runs, and what
    // it says is returned.
    private String narrow(ExecutionEvent event) throws Exception {
        List<String> left = selection == null ? null : leftOut().get(event.getProject().getBasedir().getCanonicalPath());
        MojoExecution mojo = event.getMojoExecution();
        Xpp3Dom configuration = mojo.getConfiguration();
        if (selection == null || configuration == null) {
            return "";
        }
        // Failures are to be told, and all of them; what becomes of them is decided elsewhere.
        set(configuration, "testFailureIgnore", "false");
        set(configuration, "skipAfterFailureCount", "0");
        if (left == null || left.isEmpty()) {
            return "";
        }
        if (left.contains("")) {
            set(configuration, "skipTests", "true");
            return "";
        }
        PluginParameterExpressionEvaluator evaluator = new PluginParameterExpressionEvaluator(event.getSession(), mojo);
        List<String> excludes = patterns(configuration.getChild("excludes"), evaluator);
        for (String fixed : Arrays.asList("suiteXmlFiles", "test")) {
            if (!patterns(configuration.getChild(fixed), evaluator).isEmpty()) {
                return fixed;
            }
        }
        boolean hasOwn = !excludes.isEmpty() || hasPatterns(patterns(configuration.getChild("excludesFile"), evaluator), event);
        exclude(configuration, hasOwn ? excludes : Collections.singletonList(USUAL_EXCLUDE), left);
        // With everything left out, there may be nothing to run.
        set(configuration, "failIfNoTests", "false");
        mojo.setConfiguration(configuration);
        return "";
    }

    // Whether the files hold any pattern, as Surefire reads them: it adds what they say to the excludes.
    private static boolean hasPatterns(List<String> files, ExecutionEvent event) throws IOException {
        for (String name : files) {
            File file = new File(name);
            File absolute = file.isAbsolute() ? file : new File(event.getProject().getBasedir(), name);
            for (String line : absolute.isFile() ? Files.readAllLines(absolute.toPath()) : new ArrayList<String>()) {
                if (!line.trim().isEmpty() && !line.trim().startsWith("#")) {
                    return true;
                }
            }
        }
        return false;
    }

    private static void exclude(Xpp3Dom configuration, List<String> own, List<String> classes) {
        List<String> patterns = new ArrayList<>(own);
        for (String name : classes) {
            patterns.add(name.replace('.', '/') + ".java");
            patterns.add(name.replace('.', '/') + "$*.java");
        }
        Xpp3Dom excludes = new Xpp3Dom("excludes");
        for (String pattern : patterns) {
            Xpp3Dom exclude = new Xpp3Dom("exclude");
            exclude.setValue(pattern);
            excludes.addChild(exclude);
        }
        for (int index = configuration.getChildCount() - 1; index >= 0; index--) {
            if (configuration.getChild(index).getName().equals("excludes")) {
                configuration.removeChild(index);
            }
        }
        configuration.addChild(excludes);
    }

    // The values of a parameter: its elements, or what a property says.
    private static List<String> patterns(Xpp3Dom parameter, PluginParameterExpressionEvaluator evaluator) throws Exception {
        List<String> patterns = new ArrayList<>();
        if (parameter == null) {
            return patterns;
        }
        for (Xpp3Dom child : parameter.getChildren()) {
            if (child.getValue() != null && !child.getValue().trim().isEmpty()) {
                patterns.add(child.getValue());
            }
        }
        Object value = parameter.getValue() == null ? null : evaluator.evaluate(parameter.getValue());
        for (String part : value == null ? new String[0] : String.valueOf(value).split(",")) {
            if (!part.trim().isEmpty()) {
                patterns.add(part.trim());
            }
        }
        return patterns;
    }

    // Only what this version of Surefire knows.
    private static void set(Xpp3Dom configuration, String parameter, String value) {
        Xpp3Dom child = configuration.getChild(parameter);
        if (child != null) {
            child.setValue(value);
        }
    }

    private Map<String, List<String>> leftOut() throws IOException {
        Map<String, List<String>> left = new HashMap<>();
        for (String line : Files.readAllLines(Paths.get(selection), StandardCharsets.UTF_8)) {
            String[] parts = line.split("\t", 2);
            left.computeIfAbsent(new File(parts[0]).getCanonicalPath(), key -> new ArrayList<>()).add(parts[1]);
        }
        return left;
    }

    private static boolean isTest(MojoExecution mojo) {
        return mojo.getArtifactId().equals("maven-surefire-plugin") && mojo.getGoal().equals("test");
    }

    private static String name(MojoExecution mojo) {
        return mojo.getArtifactId() + ":" + mojo.getGoal() + " (" + mojo.getExecutionId() + ")";
    }

    private static String directory(ExecutionEvent event) {
        return event.getProject().getBasedir().getPath();
    }

    private static String message(ExecutionEvent event) {
        return event.getException() == null ? "" : String.valueOf(event.getException().getMessage());
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
