package coevo.builder;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Compiles test sources and stubs code that does not compile, until the rest compiles.
 *
 * <p>Arguments: root*, without* (files to leave out), class_path*, option* (javac's own, one word
 * each). The returned files are those of the output folder.
 *
 * <p>With {@code edited} (a root of some of the sources) and {@code compiled} (the class files of
 * the others), only the former are compiled, if that gives the same: no annotation processor is on
 * the class path, and there is no error. The response then says {@code alone}, and its files and
 * classes are those of these sources.
 */
final class Compilation {
    static final Path OUTPUT =
            Paths.get(System.getProperty("java.io.tmpdir"), "coevo-classes-" + UUID.randomUUID());
    private static final int ROUNDS = 8; // afterwards a file with an error is dropped as a whole
    private static final int GIVEN_UP = 30;
    private static final int SYNTAX_REPAIRS = 8; // in one file

    private final Request request;
    private final Map<URI, Source> sources = new TreeMap<>();
    private final Set<URI> touched = new LinkedHashSet<>();
    private final List<Broken> broken = new ArrayList<>();
    private final Set<String> dropped = new LinkedHashSet<>();
    private final List<Object> errors = new ArrayList<>();
    private Javac javac;

    Compilation(Request request) {
        this.request = request;
    }

    Response run() throws IOException {
        Response alone = request.all("edited").isEmpty() ? null : compileAlone();
        return alone == null ? compileWhole() : alone;
    }

    /** Compiles the edited sources against the others' class files; null if that is not enough. */
    private Response compileAlone() throws IOException {
        List<Source> edited =
                Source.read(
                        request.all("edited"),
                        encoding(request.all("option")),
                        Collections.emptyList());
        Path generated = Files.createTempDirectory("coevo-generated");
        try (Javac opened = new Javac(request, OUTPUT, generated, request.all("compiled"))) {
            javac = opened;
            if (opened.hasProcessors() || !opened.compile(edited).isEmpty()) {
                return null;
            }
            Response response = response(0);
            response.json.put("alone", true);
            return response;
        } catch (StackOverflowError | IllegalStateException end) {
            return null; // the whole compilation finds the file that crashes the compiler
        } finally {
            Folder.empty(generated);
            Files.delete(generated);
        }
    }

    private Response compileWhole() throws IOException {
        Charset encoding = encoding(request.all("option"));
        for (Source source : Source.read(request.all("root"), encoding, request.all("without"))) {
            sources.put(source.uri, source);
        }
        Path generated = Files.createTempDirectory("coevo-generated");
        try (Javac opened = new Javac(request, OUTPUT, generated)) {
            javac = opened;
            int rounds = repeat();
            return response(rounds);
        } finally {
            Folder.empty(generated);
            Files.delete(generated);
        }
    }

    /** Deletes the class files of the last compilation. */
    static void clean() throws IOException {
        if (Files.exists(OUTPUT)) {
            Folder.empty(OUTPUT);
            Files.delete(OUTPUT);
        }
    }

    static Charset encoding(List<String> options) {
        int at = options.indexOf("-encoding");
        try {
            return at < 0 ? StandardCharsets.UTF_8 : Charset.forName(options.get(at + 1));
        } catch (IllegalArgumentException e) { // an undefined property or a typing error
            return StandardCharsets.UTF_8;
        }
    }

    /** Compiles until no error is left; returns the number of additional rounds. */
    private int repeat() throws IOException {
        List<Problem> problems = compile();
        int round = 0;
        while (!problems.isEmpty()) {
            record(problems, round);
            round++;
            List<Problem> placed =
                    problems.stream()
                            .filter(it -> it.file != null && sources.containsKey(it.file))
                            .collect(Collectors.toList());
            if (placed.isEmpty() || round > GIVEN_UP) {
                dropAll(problems.get(0));
            } else if (round > ROUNDS) {
                dropFiles(placed);
            } else if (!repairSyntax(placed)) {
                repair(placed);
            }
            problems = compile();
        }
        return round;
    }

    private List<Problem> compile() throws IOException {
        if (sources.isEmpty()) {
            Folder.empty(OUTPUT);
            return Collections.emptyList();
        }
        while (true) {
            try {
                return javac.compile(new ArrayList<>(sources.values()));
            // JDK 8 gives no reason with the latter
            } catch (StackOverflowError | IllegalStateException end) {
                if (javac.current() == null || !sources.containsKey(javac.current())) {
                    throw end;
                }
                dropUnread(javac.current());
            }
        }
    }

    /** Drops a file that crashes the compiler; its other contents remain unknown. */
    private void dropUnread(URI file) {
        Problem problem = new Problem(file, -1, -1, "javac.crash", "StackOverflowError");
        errors.add(problem.toMap(sources.get(file).name, 0));
        drop(file, problem, Collections.emptyList());
    }

    private void record(List<Problem> problems, int round) {
        for (Problem problem : problems) {
            Source source = problem.file == null ? null : sources.get(problem.file);
            errors.add(problem.toMap(source == null ? null : source.name, round));
        }
    }

    private static Map<URI, List<Problem>> byFile(List<Problem> problems) {
        return problems.stream()
                .collect(
                        Collectors.groupingBy(
                                it -> it.file, TreeMap::new, Collectors.toList()));
    }

    /**
     * Repairs syntax errors first, since they hide other errors and cause more; returns whether any
     * existed.
     */
    private boolean repairSyntax(List<Problem> problems) throws IOException {
        boolean any = false;
        for (URI file : byFile(problems).keySet()) {
            Source source = sources.get(file);
            Javac.Parsed parsed = javac.parse(source);
            for (int i = 0; source != null && !parsed.problems.isEmpty(); i++) {
                any = true;
                Problem first = parsed.problems.get(0);
                source = i < SYNTAX_REPAIRS ? withoutBody(source, first) : null;
                if (source == null) {
                    drop(file, first, new Outline(parsed, sources.get(file).text).types);
                } else {
                    sources.put(file, source);
                    touched.add(file);
                    parsed = javac.parse(source);
                }
            }
        }
        return any;
    }

    private static Source withoutBody(Source source, Problem problem) {
        Outline.Span body = Braces.body(source.text, problem.position);
        if (body == null) {
            return null;
        }
        String text = source.text.substring(body.start + 1, body.end - 1);
        if (Stub.signature(text) != null) {
            return null;
        }
        String stub = Stub.statement(source, problem, text);
        return source.with(
                source.text.substring(0, body.start + 1)
                        + stub
                        + source.text.substring(body.end - 1));
    }

    private void repair(List<Problem> problems) throws IOException {
        for (Map.Entry<URI, List<Problem>> entry : byFile(problems).entrySet()) {
            Source source = sources.get(entry.getKey());
            Outline outline = outline(source);
            Repair repair = new Repair(source, outline);
            Source repaired = repair.apply(entry.getValue());
            if (repaired == null || repaired.text.equals(source.text)) {
                drop(source.uri, entry.getValue().get(0), outline.types);
            } else {
                broken.addAll(repair.broken());
                sources.put(source.uri, repaired);
                touched.add(source.uri);
            }
        }
    }

    private Outline outline(Source source) throws IOException {
        return new Outline(javac.parse(source), source.text);
    }

    private void dropFiles(List<Problem> problems) throws IOException {
        for (Map.Entry<URI, List<Problem>> entry : byFile(problems).entrySet()) {
            Source source = sources.get(entry.getKey());
            drop(source.uri, entry.getValue().get(0), outline(source).types);
        }
    }

    private void dropAll(Problem problem) throws IOException {
        for (Source source : new ArrayList<>(sources.values())) {
            drop(source.uri, problem, outline(source).types);
        }
    }

    private void drop(URI file, Problem problem, List<Outline.Type> types) {
        String name = sources.remove(file).name;
        dropped.add(name);
        String main = name.substring(0, name.length() - ".java".length()).replace('/', '.');
        broken.add(new Broken(main, null, Collections.emptyList(), problem.signature()));
        for (Outline.Type type : types) {
            broken.add(new Broken(type.name, null, Collections.emptyList(), problem.signature()));
        }
    }

    private Response response(int rounds) throws IOException {
        for (URI file : touched) {
            if (sources.containsKey(file)) {
                Source source = sources.get(file);
                broken.addAll(Repair.stubbed(source, outline(source)));
            }
        }
        if (javac.failedProcessor() != null) {
            errors.add(0, javac.failedProcessor().toMap(null, 0));
        }
        Response response = Response.of("compiled");
        Map<String, Object> json = response.json;
        json.put("unit_ok", errors.isEmpty());
        json.put("rounds", rounds);
        json.put("processing", javac.processing());
        json.put("processors", javac.hasProcessors());
        json.put("errors", errors);
        json.put("dropped", dropped);
        json.put("broken", first().stream().map(Broken::toMap).collect(Collectors.toList()));
        json.put("classes", Hierarchy.of(OUTPUT));
        response.folders.put("", OUTPUT);
        return response;
    }

    /** Returns each broken member or class once, with its first error, in a stable order. */
    private List<Broken> first() {
        Map<String, Broken> found = new TreeMap<>();
        for (Broken one : broken) {
            found.putIfAbsent(
                    one.type + "#" + one.method + "(" + String.join(",", one.parameters), one);
        }
        return new ArrayList<>(found.values());
    }
}
