// Compiles and tests many small trees in one virtual machine, because starting one is slow.
//
// Standard input: a line `TREE<tab>OUT<tab>run|compile` per tree, or `TREE<tab>OUT<tab>run<tab>FILE<tab>OTHER` where
// OTHER takes the place of a file of the tree. TREE holds main, test and resources, or is laid out as Maven has it;
// classes and resources go to OUT. `TREE<tab>OUT<tab>again:CLASS` runs one class of what was compiled. Standard output:
// `OUT<tab>CLASS<tab>planned` per test class before the first runs, `OUT<tab>CLASS<tab>passed|failed` per test class that
// ran, `OUT<tab>!<tab>complaint` for a tree that does not compile, `OUT<tab>.<tab>done` after each. A test that ran out of
// time may run for ever, and take time and memory from those after it: of these the ones that fail are `doubtful`, and
// the machine ends after its tree. A test that takes all memory ends the machine in the middle of its tree.

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

class TreeDriver {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    // Kept, because opening the platform's modules takes longer than a small tree.
    private static final StandardJavaFileManager MANAGER = COMPILER.getStandardFileManager(null, null, null);
    private static final String CLASS_PATH = System.getProperty("java.class.path");
    private static final String AGAIN = "again:";
    private static boolean hangs;

    public static void main(String[] arguments) {
        PrintStream out = System.out;
        // Tests and compilers may print what they like.
        System.setOut(System.err);
        int status = 1;
        try {
            work(out);
            out.flush();
            status = 0;
        } catch (Throwable problem) {
            problem.printStackTrace();
        } finally {
            // Threads of tests that hang would keep the machine from an ordinary end.
            Runtime.getRuntime().halt(status);
        }
    }

    private static void work(PrintStream out) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split("\t");
            Path tree = Path.of(parts[0]);
            Path classes = Path.of(parts[1]);
            Map<Path, Path> others = parts.length > 3 ? Map.of(tree.resolve(parts[3]), Path.of(parts[4])) : Map.of();
            String again = parts[2].startsWith(AGAIN) ? parts[2].substring(AGAIN.length()) : null;
            String complaint = again == null ? compile(tree, classes, others) : "";
            if (!complaint.isEmpty()) {
                out.println(classes + "\t!\t" + complaint.replaceAll("\\s+", " "));
            } else if (again != null || parts[2].equals("run")) {
                BiConsumer<String, String> tell = (name, word) -> out.println(classes + "\t" + name + "\t" + word);
                run(classes, again, tell).forEach(tell);
            }
            out.println(classes + "\t.\tdone");
            if (hangs) {
                break;
            }
        }
    }

    private static String compile(Path tree, Path classes, Map<Path, Path> others) throws Exception {
        Files.createDirectories(classes);
        String classPath = classes + java.io.File.pathSeparator + CLASS_PATH;
        List<Path> main = files(tree, ".java", "main", "src/main/java");
        List<Path> test = files(tree, ".java", "test", "src/test/java");
        main.replaceAll(file -> others.getOrDefault(file, file));
        List<Path> unnamed = new ArrayList<>(main);
        unnamed.removeIf(path -> path.endsWith("module-info.java"));
        boolean isModule = unnamed.size() < main.size();
        unnamed.addAll(test);
        String complaint = kotlin(tree, classes, classPath) + javac(unnamed, classes, classPath);
        if (isModule) {
            // The tests do not belong to the module, and were compiled without it.
            complaint += javac(main, classes, classPath);
        }
        for (String folder : List.of("resources", "src/main/resources", "src/test/resources")) {
            for (Path file : files(tree, "", folder)) {
                Path target = classes.resolve(tree.resolve(folder).relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
        return complaint;
    }

    private static String javac(List<Path> files, Path classes, String classPath) throws IOException {
        if (files.isEmpty()) {
            return "";
        }
        StringWriter output = new StringWriter();
        List<String> options = List.of("-d", classes.toString(), "-cp", classPath, "-g", "-proc:none", "-nowarn");
        boolean done = COMPILER
                .getTask(output, MANAGER, null, options, null, MANAGER.getJavaFileObjectsFromPaths(files))
                .call();
        return done ? "" : output.toString();
    }

    private static String kotlin(Path tree, Path classes, String classPath) throws Exception {
        List<Path> files = files(tree, ".kt", "");
        if (files.isEmpty()) {
            return "";
        }
        List<String> options = new ArrayList<>(List.of("-no-stdlib", "-nowarn", "-cp", classPath, "-d", classes.toString()));
        files.forEach(file -> options.add(file.toString()));
        Class<?> type = Class.forName("org.jetbrains.kotlin.cli.jvm.K2JVMCompiler");
        Object compiler = type.getDeclaredConstructor().newInstance();
        Object exit = type.getMethod("exec", PrintStream.class, String[].class)
                .invoke(compiler, System.err, options.toArray(new String[0]));
        return exit.toString().equals("OK") ? "" : "kotlinc: " + exit;
    }

    private static List<Path> files(Path tree, String ending, String... folders) throws IOException {
        List<Path> files = new ArrayList<>();
        for (String folder : folders) {
            Path root = tree.resolve(folder);
            if (Files.isDirectory(root)) {
                try (Stream<Path> walk = Files.walk(root)) {
                    walk.filter(path -> Files.isRegularFile(path) && path.toString().endsWith(ending))
                            .sorted()
                            .forEach(files::add);
                }
            }
        }
        return files;
    }

    /** Runs one class, or all if none is named. */
    private static Map<String, String> run(Path classes, String name, BiConsumer<String, String> tell)
            throws Exception {
        Map<String, String> outcomes = new TreeMap<>();
        ClassLoader before = Thread.currentThread().getContextClassLoader();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()}, before)) {
            Thread.currentThread().setContextClassLoader(loader);
            Launcher launcher = LauncherFactory.create();
            LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
            if (name == null) {
                request.selectors(DiscoverySelectors.selectClasspathRoots(Set.of(classes)));
            } else {
                request.selectors(DiscoverySelectors.selectClass(name));
            }
            launcher.execute(request.build(), new Outcomes(outcomes, tell));
        } finally {
            Thread.currentThread().setContextClassLoader(before);
        }
        return outcomes;
    }

    private static class Outcomes implements TestExecutionListener {
        private final Map<String, String> outcomes;
        private final Set<String> begunBeside = new HashSet<>();
        private final BiConsumer<String, String> tell;
        private TestPlan plan;

        Outcomes(Map<String, String> outcomes, BiConsumer<String, String> tell) {
            this.outcomes = outcomes;
            this.tell = tell;
        }

        @Override
        public void testPlanExecutionStarted(TestPlan plan) {
            this.plan = plan;
            Stream<TestIdentifier> all = plan.getRoots().stream().flatMap(root -> plan.getDescendants(root).stream());
            all.map(this::outermost).filter(Objects::nonNull).distinct().forEach(name -> tell.accept(name, "planned"));
        }

        @Override
        public void executionStarted(TestIdentifier test) {
            String name = outermost(test);
            if (name != null && hangs && !outcomes.containsKey(name)) {
                begunBeside.add(name);
            }
        }

        @Override
        public void executionFinished(TestIdentifier test, TestExecutionResult result) {
            String name = outermost(test);
            if (name == null) {
                return;
            }
            hangs |= result.getThrowable().filter(TimeoutException.class::isInstance).isPresent();
            boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
            if (!passed) {
                outcomes.put(name, begunBeside.contains(name) ? "doubtful" : "failed");
            } else if (test.isTest()) {
                outcomes.putIfAbsent(name, "passed");
            }
        }

        private String outermost(TestIdentifier test) {
            String name = null;
            TestIdentifier current = test;
            while (current != null) {
                TestSource source = current.getSource().orElse(null);
                if (source instanceof ClassSource) {
                    name = ((ClassSource) source).getClassName();
                }
                current = plan.getParent(current).orElse(null);
            }
            return name;
        }
    }
}
