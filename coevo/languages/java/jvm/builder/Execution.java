package coevo.builder;

import static java.util.stream.Collectors.toList;
import static java.util.stream.Collectors.toSet;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Base64;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jacoco.core.data.ExecutionData;
import org.jacoco.core.data.ExecutionDataReader;
import org.jacoco.core.data.ExecutionDataStore;

/**
 * Derives from JaCoCo's execution data which methods and lines of class files were executed.
 *
 * <p>Arguments: folder* (of class files; the first folder that contains a class counts), removed*
 * (class files to ignore), source* (INDEX:PATH, a source file by its class folder and its path in
 * the package, whose lines are all reported), covered* and entered* (for each test, execution data
 * as Base64 for URLs and the entered methods, as lines of CLASS.METHODDESCRIPTOR).
 *
 * <p>JSON: {@code classes}, see {@link ClassFiles}; {@code blank}, the indexes of the sources'
 * classes without coverage; {@code tests}, for each test the indexes of its executed classes, or
 * null.
 */
final class Execution {
    private final List<String> covered;
    private final List<String> entered;
    private final Set<String> sources;
    private final ClassFiles files;

    Execution(Request request) {
        covered = request.all("covered");
        entered = request.all("entered");
        sources = new LinkedHashSet<>(request.all("source"));
        files =
                new ClassFiles(
                        request.all("folder").stream().map(it -> Paths.get(it)).collect(toList()),
                        request.all("removed").stream().map(it -> Paths.get(it)).collect(toSet()),
                        sources);
    }

    Response run() throws IOException {
        Response response = Response.of("traced");
        response.json.put("blank", files.blank());
        List<Object> tests = new ArrayList<>();
        for (int i = 0; i < covered.size(); i++) {
            tests.add(test(covered.get(i), entered.get(i)));
        }
        response.json.put("tests", tests);
        response.json.put("classes", files.seen());
        return response;
    }

    /** Returns the executed classes of a test; null for data that the agent cannot have written. */
    private Set<Integer> test(String data, String names) {
        try {
            return executed(Base64.getUrlDecoder().decode(data), names);
        } catch (IOException | RuntimeException foreign) {
            return null;
        }
    }

    private Set<Integer> executed(byte[] bytes, String names) throws IOException {
        ExecutionDataStore store = new ExecutionDataStore();
        ExecutionDataReader reader = new ExecutionDataReader(new ByteArrayInputStream(bytes));
        reader.setExecutionDataVisitor(store);
        reader.setSessionInfoVisitor(session -> {});
        Set<Integer> found = new LinkedHashSet<>();
        while (reader.read()) {
            continue; // until the end
        }
        for (ExecutionData execution : store.getContents()) {
            found.add(files.executed(execution));
        }
        for (String name : names.split("\n")) {
            String type = name.substring(0, Math.max(0, name.indexOf('.')));
            if (!store.contains(type)) {
                found.add(files.untouched(type));
            }
        }
        found.remove(null);
        return found;
    }
}
