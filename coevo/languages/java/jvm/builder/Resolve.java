package coevo.builder;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Resolves coordinates with their transitive runtime dependencies.
 *
 * <p>Arguments: coordinates* (group:artifact:version), settings, head, tail, define*, offline.
 */
final class Resolve {
    private static final String POM =
            "<project><modelVersion>4.0.0</modelVersion>"
                    + "<groupId>coevo</groupId><artifactId>resolve</artifactId>"
                    + "<version>1</version><packaging>pom</packaging></project>";

    private final Request request;
    private final Maven maven;

    Resolve(Request request, Maven maven) {
        this.request = request;
        this.maven = maven;
    }

    /** Returns JSON: {@code resolved}, a list of {path, coordinates}; null if it failed. */
    Response run() throws IOException {
        Path folder = Files.createTempDirectory("coevo-resolve");
        try {
            Files.write(folder.resolve("pom.xml"), POM.getBytes(StandardCharsets.UTF_8));
            List<String> goal = new ArrayList<>();
            goal.add("-Dcoevo.resolve=" + String.join(",", request.all("coordinates")));
            goal.add("validate");
            Map<String, Object> report = maven.run(folder.toRealPath(), request, goal);
            boolean failed = report.get("resolved") == null;
            Response response = Response.of(failed ? "failed" : "resolved");
            response.json.putAll(report);
            return response;
        } finally {
            Folder.empty(folder);
            Files.delete(folder);
        }
    }
}
