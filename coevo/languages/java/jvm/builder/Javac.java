package coevo.builder;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import com.sun.source.util.Trees;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/** The JDK's compiler with one request's options. */
final class Javac implements AutoCloseable {
    private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();
    private static final Set<String> LANGUAGE =
            new HashSet<>(
                    Arrays.asList("-source", "--source", "-target", "--target", "--release"));
    /** Report all errors at once, not phase by phase; JDK 8 knows the option by the second name. */
    private static final List<String> ALL_ERRORS =
            Arrays.asList("-XDshould-stop.ifError=FLOW", "-XDshouldStopPolicyIfError=FLOW");
    private static final String PROCESSORS =
            "META-INF/services/javax.annotation.processing.Processor";
    private static final int FEATURE =
            Integer.parseInt(
                    System.getProperty("java.specification.version").replaceFirst("^1\\.", ""));
    private static final int PROC_FULL = 21; // since then -proc:full selects the old default

    /** A parsed file: its tree, the positions in it, and the parser's errors. */
    static final class Parsed {
        final CompilationUnitTree unit;
        final SourcePositions positions;
        final List<Problem> problems;

        Parsed(CompilationUnitTree unit, SourcePositions positions, List<Problem> problems) {
            this.unit = unit;
            this.positions = positions;
            this.problems = problems;
        }
    }

    private final Path output;
    private final Path generated;
    private final List<String> language = new ArrayList<>();
    private final List<String> full = new ArrayList<>();
    private final StandardJavaFileManager files;
    private boolean processing;
    private Problem failedProcessor;
    private URI current; // the file that is being parsed, analysed or written

    Javac(Request request, Path output, Path generated) throws IOException {
        this(request, output, generated, Collections.emptyList());
    }

    /** Opens a compiler with {@code first} in front of the request's class path. */
    Javac(Request request, Path output, Path generated, List<String> first) throws IOException {
        this.output = output;
        this.generated = generated;
        Folder.empty(output); // a location must exist
        setOptions(request.all("option"));
        files = COMPILER.getStandardFileManager(null, Locale.ENGLISH, StandardCharsets.UTF_8);
        List<File> path =
                Stream.concat(first.stream(), request.all("class_path").stream())
                        .map(File::new)
                        .collect(Collectors.toList());
        files.setLocation(StandardLocation.CLASS_PATH, path);
        files.setLocation(StandardLocation.CLASS_OUTPUT, Collections.singleton(output.toFile()));
        files.setLocation(StandardLocation.SOURCE_OUTPUT, Collections.singleton(generated.toFile()));
        files.setLocation(StandardLocation.SOURCE_PATH, Collections.emptySet());
    }

    /** Separates options that the parser needs too from those for compilation only. */
    private void setOptions(List<String> options) {
        full.addAll(Arrays.asList("-g", "-nowarn", "-Xmaxerrs", "1000000", "-implicit:none"));
        for (int i = 0; i < options.size(); i++) {
            String option = options.get(i);
            if (LANGUAGE.contains(option)) {
                language.addAll(options.subList(i, i + 2));
                i++;
            } else if (option.equals("-encoding")) {
                i++; // the files are decoded here
            } else if (option.equals("--enable-preview")) {
                language.add(option);
            } else if (!isDropped(option)) {
                full.add(option);
            }
        }
        processing = !full.contains("-proc:none");
        boolean asked = full.stream().anyMatch(it -> it.startsWith("-proc:"));
        if (!asked && FEATURE >= PROC_FULL) {
            full.add("-proc:full");
        }
    }

    /**
     * Returns whether an option is dropped: it makes warnings fatal, prints output, or loads code
     * into the compiler.
     */
    private static boolean isDropped(String option) {
        return option.equals("-Werror")
                || option.equals("-verbose")
                || option.startsWith("-Xlint")
                || option.startsWith("-Xdoclint")
                || option.startsWith("-Xplugin")
                || option.startsWith("-Xep") // Error Prone
                || option.startsWith("-J");
    }

    /**
     * Compiles the sources and returns the errors; the class files are complete only if there are
     * none. If an annotation processor fails, everything is compiled again without processors.
     */
    List<Problem> compile(List<Source> sources) throws IOException {
        if (processing) {
            failedProcessor = null;
            List<Problem> problems = process(sources);
            if (failedProcessor == null) {
                return problems;
            }
            processing = false;
        }
        return compile(sources, Collections.singletonList("-proc:none"));
    }

    private List<Problem> process(List<Source> sources) throws IOException {
        try {
            List<Problem> problems = compile(sources, Collections.emptyList());
            for (Problem problem : problems) {
                if (problem.file == null && problem.code.startsWith("proc.")) {
                    failedProcessor = problem;
                }
            }
            return problems;
        } catch (RuntimeException crash) { // javac wraps exceptions of processors
            Throwable root = crash.getCause() == null ? crash : crash.getCause();
            failedProcessor = new Problem(null, -1, -1, "proc.crash", root.getClass().getName());
            return Collections.emptyList();
        }
    }

    /** Returns whether annotation processors may run: options or the class path name some. */
    boolean hasProcessors() throws IOException {
        return processing
                && (full.stream().anyMatch(it -> it.matches("--?processor.*"))
                        || files.getFileForInput(StandardLocation.CLASS_PATH, "", PROCESSORS)
                                != null);
    }

    /** Returns whether annotation processors run; they do not after one of them failed. */
    boolean processing() {
        return processing;
    }

    /** Returns the error that disabled annotation processing, or null. */
    Problem failedProcessor() {
        return failedProcessor;
    }

    private List<Problem> compile(List<Source> sources, List<String> more) throws IOException {
        Folder.empty(output);
        Folder.empty(generated);
        List<String> options = new ArrayList<>(language);
        options.addAll(full);
        options.addAll(more);
        options.addAll(ALL_ERRORS);
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavacTask task =
                (JavacTask) COMPILER.getTask(null, files, found, options, null, objects(sources));
        current = null;
        task.addTaskListener(noting());
        boolean good = task.call();
        List<Problem> problems = errors(found);
        if (!good && problems.isEmpty()) {
            throw new IllegalStateException("javac failed without an error");
        }
        return problems;
    }

    /**
     * Notes the file being compiled. This is a class of its own because some programs are compiled
     * without the compiler's own interface.
     */
    private TaskListener noting() {
        return new TaskListener() {
            @Override
            public void started(TaskEvent event) {
                if (event.getSourceFile() != null) {
                    current = event.getSourceFile().toUri();
                }
            }

            @Override
            public void finished(TaskEvent event) {}
        };
    }

    /** Returns the file that the last compilation was processing when it ended, or null. */
    URI current() {
        return current;
    }

    Parsed parse(Source source) throws IOException {
        List<String> options = new ArrayList<>(language);
        options.add("-proc:none");
        DiagnosticCollector<JavaFileObject> found = new DiagnosticCollector<>();
        JavacTask task =
                (JavacTask)
                        COMPILER.getTask(null, files, found, options, null, objects(Collections.singletonList(source)));
        CompilationUnitTree unit = task.parse().iterator().next();
        return new Parsed(unit, Trees.instance(task).getSourcePositions(), errors(found));
    }

    private static List<JavaFileObject> objects(List<Source> sources) {
        return sources.stream().map(Source::toFileObject).collect(Collectors.toList());
    }

    private static List<Problem> errors(DiagnosticCollector<JavaFileObject> found) {
        return found.getDiagnostics().stream()
                .filter(it -> it.getKind() == Diagnostic.Kind.ERROR)
                .map(Problem::of)
                .collect(Collectors.toList());
    }

    @Override
    public void close() throws IOException {
        files.close();
    }
}
