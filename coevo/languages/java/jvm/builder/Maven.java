package coevo.builder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.apache.maven.cli.MavenCli;

/**
 * Maven with coevo's extension: in this JVM, repeatedly, with new class loaders each time; or as
 * its own script on the JDK that a request names.
 */
final class Maven {
    private static final String OPTIONS =
            "-XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xmx1500m -Xss4m";

    private final String home;
    private final String extension;
    private final Tail log;

    Maven(String home, String extension, Tail log) {
        this.home = home;
        this.extension = extension;
        this.log = log;
    }

    /**
     * Runs a goal of the project in a folder.
     *
     * <p>@return the extension's report with {@code exit} and {@code log} added; without {@code
     * projects} if Maven stopped too early
     */
    Map<String, Object> run(Path project, Request request, List<String> goal) throws IOException {
        Path file = Files.createTempFile("coevo-report", ".json");
        try {
            System.setProperty("maven.home", home);
            System.setProperty("maven.conf", home + "/conf");
            System.setProperty("maven.multiModuleProjectDirectory", project.toString());
            List<String> arguments = arguments(request, file);
            arguments.addAll(goal);
            String jdk = request.one("java_home", "");
            int exit = jdk.isEmpty() ? inside(arguments, project) : beside(arguments, project, jdk);
            return Reports.read(file, exit, log);
        } finally {
            Files.deleteIfExists(file);
        }
    }

    private int inside(List<String> arguments, Path project) {
        String[] words = arguments.toArray(new String[0]);
        return new MavenCli().doMain(words, project.toString(), log.stream(), log.stream());
    }

    /** Runs Maven's own script in a separate process, which applies the JVM options in .mvn. */
    private int beside(List<String> arguments, Path project, String jdk) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(home + "/bin/mvn");
        command.add("-Dcoevo.port=" + System.getProperty("coevo.port"));
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile());
        builder.environment().put("JAVA_HOME", jdk);
        builder.environment().put("MAVEN_OPTS", OPTIONS);
        builder.environment().put("MAVEN_SKIP_RC", "true");
        return Child.run(builder, log);
    }

    private List<String> arguments(Request request, Path report) {
        List<String> list = new ArrayList<>();
        list.addAll(Arrays.asList("-B", "-q", "-fae", "-T1", "-Dstyle.color=never"));
        list.addAll(Arrays.asList("-s", request.one("settings")));
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
