package commits;

import com.google.gson.Gson;
import gr.uom.java.xmi.diff.CodeRange;
import java.io.BufferedReader;
import java.io.File;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.eclipse.jgit.lib.Repository;
import org.eclipse.jgit.storage.file.FileRepositoryBuilder;
import org.refactoringminer.api.Refactoring;
import org.refactoringminer.api.RefactoringHandler;
import org.refactoringminer.rm1.GitHistoryRefactoringMinerImpl;

/**
 * Asks RefactoringMiner for whole commits: reads lines GIT_DIR COMMIT, with a tab between them, and
 * answers each by one line of JSON, rows as {@code miners.refactoring_worker} has them.
 *
 * <p>The trees of a commit and its first parent are read from the object store of a bare clone.
 */
public final class AtCommit extends RefactoringHandler {
    private final List<Object> rows = new ArrayList<>();
    private String error;

    private AtCommit() {}

    public static void main(String[] arguments) throws IOException {
        PrintStream answers =
                new PrintStream(
                        new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err); // whatever a library prints is no answer
        BufferedReader requests =
                new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            String[] request = line.split("\t");
            answers.println(new Gson().toJson(answer(new File(request[0]), request[1])));
        }
    }

    private static Map<String, Object> answer(File directory, String commit) throws IOException {
        AtCommit heard = new AtCommit();
        long before = cpuNanos();
        try (Repository repository =
                new FileRepositoryBuilder().setGitDir(directory).setBare().build()) {
            new GitHistoryRefactoringMinerImpl().detectAtCommit(repository, commit, heard);
        }
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("refactorings", heard.rows);
        answer.put("error", heard.error);
        answer.put("cpu_seconds", (cpuNanos() - before) / 1e9);
        return answer;
    }

    private static long cpuNanos() {
        return ((com.sun.management.OperatingSystemMXBean)
                        java.lang.management.ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    @Override
    public void handle(String commit, List<Refactoring> found) {
        for (Refactoring one : found) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("type", one.getRefactoringType().getDisplayName());
            row.put("description", one.toString().replace('\t', ' '));
            row.put("left", places(one.leftSide()));
            row.put("right", places(one.rightSide()));
            rows.add(row);
        }
    }

    @Override
    public void handleException(String commit, Exception thrown) {
        error = thrown.toString();
    }

    private static List<Object> places(List<CodeRange> ranges) {
        List<Object> places = new ArrayList<>();
        for (CodeRange one : ranges) {
            places.add(
                    List.of(
                            one.getFilePath(),
                            one.getStartLine(),
                            one.getEndLine(),
                            one.getStartColumn(),
                            one.getEndColumn(),
                            one.getCodeElementType().name(),
                            text(one.getCodeElement()),
                            text(one.getDescription())));
        }
        return places;
    }

    private static String text(String value) {
        return value == null ? "" : value;
    }
}
