package coevo.builder;

import java.io.File;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Compiles sets of sources, each by itself and without stubs: a set compiles or it does not.
 *
 * <p>Arguments: set* (folders of sources, joined by the path separator), without* (files to leave
 * out), class_path*, option*, keep (whether to return class files, those of the K-th set below
 * {@code K/}).
 */
final class Check {
    private final Request request;
    private final Charset encoding;
    private final boolean keep;

    Check(Request request) {
        this.request = request;
        encoding = Compilation.encoding(request.all("option"));
        keep = request.one("keep", "false").equals("true");
    }

    /**
     * Returns JSON: {@code checked} has, for each set, its {@code signature} (of its first error,
     * or null), and if it compiles the digests {@code bytecode} and {@code outside} of {@link
     * Fingerprint}.
     */
    Response run() throws IOException {
        List<Map<String, Object>> checked = new ArrayList<>();
        Folder.empty(Compilation.OUTPUT);
        Path output = Files.createTempDirectory("coevo-check");
        Path generated = Files.createTempDirectory("coevo-generated");
        Javac javac = new Javac(request, output, generated);
        try {
            boolean processing = javac.processing();
            for (String set : request.all("set")) {
                // a failed processor of one set must not affect others
                if (javac.processing() != processing) {
                    javac.close();
                    javac = new Javac(request, output, generated);
                }
                checked.add(check(javac, set, output));
                if (keep) {
                    Folder.copy(output, Compilation.OUTPUT.resolve("" + (checked.size() - 1)));
                }
            }
        } finally {
            javac.close();
            for (Path folder : Arrays.asList(output, generated)) {
                Folder.empty(folder);
                Files.delete(folder);
            }
        }
        Response response = Response.of("checked");
        response.json.put("checked", checked);
        if (keep) {
            response.folders.put("", Compilation.OUTPUT);
        }
        return response;
    }

    private Map<String, Object> check(Javac javac, String set, Path output) throws IOException {
        String signature = signature(javac, sources(set), output);
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("signature", signature);
        Fingerprint found = signature == null ? Fingerprint.of(output) : null;
        map.put("bytecode", found == null ? null : found.bytecode);
        map.put("outside", found == null ? null : found.outside);
        return map;
    }

    private List<Source> sources(String set) throws IOException {
        List<String> roots = Arrays.asList(set.split(File.pathSeparator));
        return Source.read(roots, encoding, request.all("without"));
    }

    /** Returns the first error of a set in the order of files and lines, or null. */
    private static String signature(Javac javac, List<Source> sources, Path output)
            throws IOException {
        if (sources.isEmpty()) {
            Folder.empty(output);
            return null;
        }
        try {
            List<Problem> problems = javac.compile(sources);
            return problems.isEmpty() ? null : problems.get(0).signature();
        } catch (RuntimeException | StackOverflowError crash) {
            return "javac.crash " + crash.getClass().getName(); // a mutant may crash javac
        }
    }
}
