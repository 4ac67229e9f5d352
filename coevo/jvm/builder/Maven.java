package coevo.builder;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.cli.MavenCli;

/** Maven in this JVM, with our extension, again and again; each call has class loaders of its own. */
final class Maven {
    private static final TypeToken<Map<String, Object>> MAP = new TypeToken<>() {};

    private final String home;
    private final String extension;
    private final Tail log;

    Maven(String home, String extension, Tail log) {
        this.home = home;
        this.extension = extension;
        this.log = log;
    }

    /**
     * Run a goal of the project in a folder.
     *
     * @return the extension's report with {@code exit} and {@code log} beside it; without {@code
     *     projects} if Maven did not come so far
     */
    Map<String, Object> run(Path project, Request request, List<String> goal) throws IOException {
        Path file = Files.createTempFile("coevo-report", ".json");
        try {
            System.setProperty("maven.home", home);
            System.setProperty("maven.conf", home + "/conf");
            System.setProperty("maven.multiModuleProjectDirectory", project.toString());
            List<String> arguments = arguments(request, file);
            arguments.addAll(goal);
            int exit =
                    new MavenCli()
                            .doMain(
                                    arguments.toArray(String[]::new),
                                    project.toString(),
                                    log.stream(),
                                    log.stream());
            return report(file, exit);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private Map<String, Object> report(Path file, int exit) throws IOException {
        Map<String, Object> report = new Gson().fromJson(Files.readString(file), MAP);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("exit", exit);
        if (report != null) {
            result.putAll(report);
        }
        result.put("log", log.take());
        return result;
    }

    private List<String> arguments(Request request, Path report) {
        List<String> list = new ArrayList<>();
        list.addAll(List.of("-B", "-q", "-fae", "-T1", "-Dstyle.color=never"));
        list.addAll(List.of("-s", request.one("settings")));
        list.add("-Dmaven.repo.local=" + request.one("head"));
        if (!request.one("tail", "").isEmpty()) {
            list.add("-Dmaven.repo.local.tail=" + request.one("tail"));
            list.add("-Dmaven.repo.local.tail.ignoreAvailability=true");
        }
        list.add("-Dmaven.ext.class.path=" + extension);
        list.add("-Dcoevo.report=" + report);
        for (String define : request.all("define")) {
            list.add("-D" + define);
        }
        if (request.one("offline", "").equals("true")) {
            list.add("-o");
        }
        return list;
    }
}
