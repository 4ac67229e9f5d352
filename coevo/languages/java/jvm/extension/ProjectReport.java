package coevo.extension;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.artifact.resolver.filter.CumulativeScopeArtifactFilter;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Resource;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositoryEvent;
import org.eclipse.aether.RepositorySystem;

/** The report on one project of the reactor; paths are absolute except for the module's own. */
final class ProjectReport {
    private final MavenProject project;
    private final Unpinned unpinned;
    private final Map<Path, MavenProject> outputs = new LinkedHashMap<>();
    private final Map<Path, MavenProject> testOutputs = new LinkedHashMap<>();
    private String status = "skipped";
    private String failedMojo;
    private String failedPhase;
    private String failedExecution;
    private Map<String, Object> failure;
    private List<String> compiledTestRoots;
    private Map<String, Object> compiler;
    private Map<String, Object> mainCompiler;

    ProjectReport(MavenProject project, List<MavenProject> reactor) {
        this.project = project;
        unpinned = new Unpinned(reactor);
        for (MavenProject other : reactor) {
            outputs.put(Paths.get(other.getBuild().getOutputDirectory()), other);
            testOutputs.put(Paths.get(other.getBuild().getTestOutputDirectory()), other);
        }
    }

    void mojo(MojoExecution mojo, MavenSession session, RepositorySystem repositories) {
        if (!mojo.getArtifactId().equals("maven-compiler-plugin")) {
            return;
        }
        boolean ofTests = mojo.getGoal().equals("testCompile");
        if (ofTests) {
            compiledTestRoots = new ArrayList<>(project.getTestCompileSourceRoots());
        }
        if (ofTests && compiler == null) {
            compiler = new CompilerSettings(mojo, session, repositories).toMap();
        } else if (mojo.getGoal().equals("compile") && mainCompiler == null) {
            mainCompiler = new CompilerSettings(mojo, session, repositories).toMap();
        }
    }

    void mojoFailed(MojoExecution mojo) {
        failedMojo = mojo.getArtifactId() + ":" + mojo.getGoal();
        failedPhase = mojo.getLifecyclePhase();
        failedExecution = mojo.getExecutionId();
    }

    void finished(String how) {
        status = how;
    }

    /** @param unresolved the resolver's events about artifacts that were not found */
    void failed(Throwable thrown, List<RepositoryEvent> unresolved) {
        status = "failed";
        Absences absences = new Absences(unpinned::isOfTheReactor, unresolved);
        failure = Failures.describe(thrown, absences);
        failure.put("mojo", failedMojo);
        failure.put("phase", failedPhase);
        failure.put("execution", failedExecution);
    }

    /**
     * Makes Maven show the artifacts of all scopes. It shows only those that the last goal needed,
     * which are none after copying resources.
     */
    private void showAllArtifacts() {
        project.setArtifactFilter(new CumulativeScopeArtifactFilter(Collections.singleton("test")));
    }

    /**
     * Marks the project as failed if a dependency has no fixed version: such a build could have
     * another result on another day.
     */
    private void failIfUnpinned() {
        String known = (String) project.getContextValue(Tuning.UNPINNED);
        String coordinates = known != null ? known : unpinned.find(project.getArtifacts());
        if (coordinates != null) {
            status = "failed";
            failure = Failures.unpinned(coordinates);
        }
    }

    void complete() {
        showAllArtifacts();
        failIfUnpinned();
    }

    /** Gives a module that Maven skipped the failure of the first upstream module that failed. */
    void failAs(List<ProjectReport> upstream) {
        if (status.equals("skipped") && failure == null) {
            failure =
                    upstream.stream()
                            .map(it -> it.failure)
                            .filter(Objects::nonNull)
                            .findFirst()
                            .orElse(null);
        }
    }

    void send(Umpire umpire) throws IOException {
        umpire.send(status, failure);
    }

    Map<String, Object> toMap(Path root) {
        Path folder = project.getBasedir().toPath();
        String module = root.relativize(folder).toString().replace(File.separatorChar, '/');
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("module", module.isEmpty() ? "." : module);
        map.put("gav", gav(project));
        map.put("packaging", project.getPackaging());
        map.put("status", status);
        map.put("failure", failure);
        map.put("level_raised", project.getContextValue(Tuning.LEVEL_RAISED));
        map.put("linters", project.getContextValue(Tuning.LINTERS));
        map.put("ranges", project.getContextValue(Tuning.RANGES));
        map.put("without", project.getContextValue(Tuning.WITHOUT));
        map.put("compiles_tests", project.getContextValue(Tuning.COMPILES_TESTS));
        map.put("build_folder", project.getBuild().getDirectory());
        map.put("source_roots", project.getCompileSourceRoots());
        map.put("test_source_roots", testSourceRoots());
        map.put("test_resources", resources(project.getTestResources()));
        map.put("output", project.getBuild().getOutputDirectory());
        map.put("test_output", project.getBuild().getTestOutputDirectory());
        map.put("test_class_path", classPath(root));
        map.put("compiler", compiler);
        map.put("main_compiler", mainCompiler);
        map.put("surefire", new SurefireSettings(project).toMap());
        return map;
    }

    /**
     * Returns the roots that were known when Maven last compiled tests, since it ignores roots that
     * a plugin adds later. The output of processors is left out, since coevo's compiler generates
     * it again.
     */
    private List<String> testSourceRoots() {
        List<String> roots = new ArrayList<>(project.getTestCompileSourceRoots());
        if (compiledTestRoots != null) {
            roots.retainAll(compiledTestRoots);
        }
        Object processed = compiler == null ? null : compiler.get("processed");
        roots.remove(processed);
        return roots;
    }

    /** Returns Maven's own test class path in order, without the module's own two folders. */
    private List<Object> classPath(Path root) {
        List<Object> entries = new ArrayList<>();
        for (Artifact artifact : project.getArtifacts()) {
            if (artifact.getArtifactHandler().isAddedToClasspath() && artifact.getFile() != null) {
                entries.add(entry(artifact, root));
            }
        }
        return entries;
    }

    private Map<String, Object> entry(Artifact artifact, Path root) {
        Path path = artifact.getFile().toPath();
        MavenProject main = outputs.get(path);
        MavenProject tests = testOutputs.get(path);
        MavenProject other = main != null ? main : tests;
        Map<String, Object> entry = new LinkedHashMap<>();
        entry.put("path", path.toString());
        entry.put("gav", gav(artifact));
        entry.put("classifier", artifact.getClassifier());
        entry.put("scope", artifact.getScope());
        String module = other == null ? null : root.relativize(other.getBasedir().toPath()) + "";
        entry.put("module", module != null && module.isEmpty() ? "." : module);
        entry.put("kind", main != null ? "classes" : tests != null ? "test-classes" : "artifact");
        return entry;
    }

    private static List<Object> resources(List<Resource> resources) {
        List<Object> list = new ArrayList<>();
        for (Resource resource : resources) {
            Map<String, Object> map = new LinkedHashMap<>();
            map.put("directory", resource.getDirectory());
            map.put("target", resource.getTargetPath());
            map.put("filtering", resource.isFiltering());
            map.put("includes", resource.getIncludes());
            map.put("excludes", resource.getExcludes());
            list.add(map);
        }
        return list;
    }

    private static String gav(MavenProject project) {
        return project.getGroupId() + ":" + project.getArtifactId() + ":" + project.getVersion();
    }

    private static String gav(Artifact artifact) {
        return artifact.getGroupId()
                + ":"
                + artifact.getArtifactId()
                + ":"
                + artifact.getBaseVersion();
    }
}
