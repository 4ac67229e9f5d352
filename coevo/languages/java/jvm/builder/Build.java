package coevo.builder;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/**
 * Builds a revision up to its test class path.
 *
 * <p>Arguments for Maven: source, work, modules (comma separated, '' for all), settings, head,
 * tail, define*, compile_tests (auto, true, false), without*, offline, java_home. Arguments for
 * Gradle: source, work, gradle (its home), java_home, home (Gradle's user home), repository. The
 * files of each built project are prefixed by its index in the reactor: {@code 0/classes/}, {@code
 * 0/test-classes/}, {@code 0/generated/K/} for the K-th of its {@code generated_roots}.
 */
final class Build {
    /** For the build number plugin, since these trees have no history. */
    private static final List<String> NO_HISTORY =
            Arrays.asList(
                    "-Dmaven.buildNumber.doCheck=false",
                    "-Dmaven.buildNumber.doUpdate=false",
                    "-Dmaven.buildNumber.revisionOnScmFailure=unknown");

    private final Request request;
    private final Maven maven;
    private final Gradle gradle;

    Build(Request request, Maven maven, Gradle gradle) {
        this.request = request;
        this.maven = maven;
        this.gradle = gradle;
    }

    Response run() throws IOException {
        Path work = Paths.get(request.one("work"));
        Folder.empty(work);
        Folder.copy(Paths.get(request.one("source")), work);
        Path project = work.toRealPath();
        Map<String, Object> report =
                request.all("gradle").isEmpty()
                        ? maven.run(project, request, goal())
                        : gradle.run(project, request);
        boolean failed = !Integer.valueOf(0).equals(report.get("exit"));
        Response response = Response.of(failed ? "failed" : "built");
        response.json.putAll(report);
        List<Map<String, Object>> projects = projects(report);
        for (int i = 0; i < projects.size(); i++) {
            if ("built".equals(projects.get(i).get("status"))) {
                attach(projects.get(i), i, response);
            }
        }
        return isExhausted(report) ? response.asTheLast() : response;
    }

    /**
     * Returns whether a failure was caused by an OutOfMemoryError. The log does not count, to which
     * a project can write anything.
     */
    private static boolean isExhausted(Map<String, Object> report) {
        List<Object> failures = new ArrayList<>();
        if (report.get("failures") != null) {
            failures.addAll((List<?>) report.get("failures"));
        }
        projects(report).forEach(project -> failures.add(project.get("failure")));
        for (Object failure : failures) {
            Object types = failure == null ? null : ((Map<?, ?>) failure).get("exceptions");
            if (types != null && ((List<?>) types).contains(OutOfMemoryError.class.getName())) {
                return true;
            }
        }
        return false;
    }

    private List<String> goal() {
        List<String> goal = new ArrayList<>();
        goal.add("-Dmaven.test.skip=false");
        goal.addAll(NO_HISTORY);
        goal.add("-Dcoevo.compile_tests=" + request.one("compile_tests", "auto"));
        goal.add("-Dcoevo.without=" + String.join(",", request.all("without")));
        String modules = request.one("modules", "");
        if (!modules.isEmpty()) {
            goal.addAll(Arrays.asList("-pl", modules, "-am"));
        }
        goal.add("test-compile");
        return goal;
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> projects(Map<String, Object> report) {
        Object projects = report.get("projects");
        return projects == null ? Collections.emptyList() : (List<Map<String, Object>>) projects;
    }

    private static void attach(Map<String, Object> project, int index, Response response) {
        response.folders.put(index + "/classes/", Paths.get((String) project.get("output")));
        response.folders
                .put(index + "/test-classes/", Paths.get((String) project.get("test_output")));
        List<String> generated = new ArrayList<>();
        Path target = Paths.get((String) project.get("build_folder"));
        for (Object root : (List<?>) project.get("test_source_roots")) {
            if (Paths.get((String) root).startsWith(target)) {
                String prefix = index + "/generated/" + generated.size() + "/";
                response.folders.put(prefix, Paths.get((String) root));
                generated.add((String) root);
            }
        }
        project.put("generated_roots", generated);
    }
}
