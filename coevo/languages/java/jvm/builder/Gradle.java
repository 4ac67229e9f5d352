package coevo.builder;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * An installed Gradle, run by its own script in a separate process; an init script of coevo's
 * reports on the build in the same form as Maven's extension. The project's wrapper is never run.
 */
final class Gradle {
    private static final String SCRIPT = "/coevo.gradle";
    private static final List<String> TASKS = Arrays.asList("classes", "processTestResources");

    // Builds share no files, since the scripts of one build may write where Gradle looks in
    // another.
    private static final List<String> OPTIONS =
            Arrays.asList(
                    "--quiet",
                    "--continue",
                    "--no-daemon",
                    "--no-build-cache",
                    "-Dorg.gradle.parallel=false",
                    "-Dorg.gradle.vfs.watch=false",
                    "-Dorg.gradle.configuration-cache=false",
                    "-Dorg.gradle.unsafe.configuration-cache=false",
                    "-Porg.gradle.java.installations.auto-download=false");

    private final Tail log;

    Gradle(Tail log) {
        this.log = log;
    }

    /**
     * Builds like {@link Maven#run}: returns the report with {@code exit} and {@code log} added.
     */
    Map<String, Object> run(Path project, Request request) throws IOException {
        Path report = Files.createTempFile("coevo-report", ".json");
        Path script = Files.createTempFile("coevo", ".gradle");
        Folder.empty(Paths.get(request.one("home")));
        try {
            try (InputStream text = Gradle.class.getResourceAsStream(SCRIPT)) {
                Files.copy(text, script, StandardCopyOption.REPLACE_EXISTING);
            }
            List<String> command = new ArrayList<>();
            command.add(Paths.get(request.one("gradle"), "bin", "gradle").toString());
            command.addAll(OPTIONS);
            command.addAll(Arrays.asList("--init-script", script.toString()));
            command.addAll(Arrays.asList("--project-dir", project.toString()));
            command.add("-Dcoevo.port=" + System.getProperty("coevo.port"));
            command.add("-Dcoevo.repository=" + request.one("repository"));
            command.add("-Dcoevo.report=" + report);
            command.addAll(TASKS);
            ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile());
            builder.environment().put("JAVA_HOME", request.one("java_home"));
            builder.environment().put("GRADLE_USER_HOME", request.one("home"));
            return Reports.read(report, Child.run(builder, log), log);
        } finally {
            Files.deleteIfExists(report);
            Files.deleteIfExists(script);
        }
    }
}
