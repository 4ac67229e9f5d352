package coevo.extension;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.inject.Inject;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.AbstractMavenLifecycleParticipant;
import org.apache.maven.MavenExecutionException;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.eclipse.aether.RepositorySystem;

/**
 * Fits each effective model to our purpose before the build: no style checks, no compilation of
 * tests unless another module needs them, no source level that the JDK refuses.
 */
@Named
@Singleton
public final class Tuning extends AbstractMavenLifecycleParticipant {
    /** Context value of a project whose compiler level was raised. */
    static final String LEVEL_RAISED = "coevo.level_raised";

    /** Context value of a project whose compiler had checks that are left out. */
    static final String LINTERS = "coevo.linters";

    /** Context value of a project: the plugins that a request wants left out, of those it has. */
    static final String WITHOUT = "coevo.without";

    /** Context value of a project: whether ranges of it were given their lowest versions. */
    static final String RANGES = "coevo.ranges";

    /** Context value of a project: the first of its dependencies that no version pins. */
    static final String UNPINNED = "coevo.unpinned";

    /** Context value of a project whose tests are compiled by Maven. */
    static final String COMPILES_TESTS = "coevo.compiles_tests";

    private final RepositorySystem repositories;

    @Inject
    Tuning(RepositorySystem repositories) {
        this.repositories = repositories;
    }

    @Override
    public void afterProjectsRead(MavenSession session) throws MavenExecutionException {
        String wanted = session.getUserProperties().getProperty("coevo.resolve");
        if (wanted != null) {
            new Resolution(repositories, session).resolve(Arrays.asList(wanted.split(",")));
            return;
        }
        List<String> without =
                Arrays.asList(session.getUserProperties().getProperty("coevo.without", "").split(","));
        String mode = session.getUserProperties().getProperty("coevo.compile_tests", "auto");
        Set<String> needed = testJars(session.getProjects());
        Unpinned unpinned = new Unpinned(session.getProjects());
        for (MavenProject project : session.getProjects()) {
            boolean compile =
                    mode.equals("true") || mode.equals("auto") && needed.contains(key(project));
            leaveOut(project, without);
            tune(project, compile);
            project.setContextValue(RANGES, new Ranges(repositories, session).pin(project));
            project.setContextValue(UNPINNED, unpinned.find(project));
        }
    }

    private static void leaveOut(MavenProject project, List<String> names) {
        List<String> left =
                project.getBuild().getPlugins().stream()
                        .map(Plugin::getArtifactId)
                        .filter(names::contains)
                        .sorted()
                        .collect(Collectors.toList());
        project.getBuild().getPlugins().removeIf(it -> left.contains(it.getArtifactId()));
        project.setContextValue(WITHOUT, left);
    }

    private static void tune(MavenProject project, boolean compileTests) {
        project.getBuild().getPlugins().removeIf(it -> Irrelevant.isPlugin(it));
        project.getBuild().flushPluginMap();
        project.getBuild().getPlugins().forEach(Tuning::tolerateNoGit);
        project.setContextValue(COMPILES_TESTS, compileTests);
        project.setContextValue(LINTERS, new Linters(project).leaveOut());
        project.setContextValue(LEVEL_RAISED, new Levels(project).raise());
        Plugin compiler = project.getPlugin(Levels.COMPILER);
        if (!compileTests) {
            project.getBuild().getPlugins().forEach(Tuning::leaveGroovyTests);
        }
        if (compiler != null && !compileTests) {
            for (PluginExecution execution : compiler.getExecutions()) {
                if (execution.getGoals().contains("testCompile")) {
                    execution.setConfiguration(skipping(execution.getConfiguration()));
                }
            }
        }
    }

    /**
     * The mojo still runs, so that Maven resolves the test class path for it. Version 3.6.0 says that
     * it skips and compiles all the same: it finds nothing.
     */
    private static Xpp3Dom skipping(Object configuration) {
        Xpp3Dom dom = with(configuration, "skip", "true");
        Levels.set(dom, "testExcludes", null);
        Xpp3Dom everything = new Xpp3Dom("testExclude");
        everything.setValue("**");
        dom.getChild("testExcludes").addChild(everything);
        return dom;
    }

    private static Xpp3Dom with(Object configuration, String name, String value) {
        Xpp3Dom dom =
                configuration == null
                        ? new Xpp3Dom("configuration")
                        : new Xpp3Dom((Xpp3Dom) configuration);
        Levels.set(dom, name, value);
        return dom;
    }

    /** They may use Java tests, which are not compiled here, and nobody runs them. */
    private static void leaveGroovyTests(Plugin plugin) {
        for (PluginExecution execution : plugin.getExecutions()) {
            if (plugin.getArtifactId().equals("gmavenplus-plugin")) {
                execution.getGoals().remove("compileTests");
            } else if (plugin.getArtifactId().equals("gmaven-plugin")) {
                execution.getGoals().remove("testCompile");
            }
        }
    }

    /** What it writes may be a resource of the project, but our trees have no history to read. */
    private static void tolerateNoGit(Plugin plugin) {
        if (plugin.getArtifactId().startsWith("git-commit-id-")) {
            String name = "failOnNoGitDirectory";
            plugin.setConfiguration(with(plugin.getConfiguration(), name, "false"));
            for (PluginExecution execution : plugin.getExecutions()) {
                execution.setConfiguration(with(execution.getConfiguration(), name, "false"));
            }
        }
    }

    /** Modules whose test classes other modules of the reactor depend on. */
    private static Set<String> testJars(List<MavenProject> projects) {
        return projects.stream()
                .flatMap(project -> project.getDependencies().stream())
                .filter(it -> "test-jar".equals(it.getType()) || "tests".equals(it.getClassifier()))
                .map(Tuning::key)
                .collect(Collectors.toSet());
    }

    private static String key(Dependency dependency) {
        return dependency.getGroupId() + ":" + dependency.getArtifactId();
    }

    private static String key(MavenProject project) {
        return project.getGroupId() + ":" + project.getArtifactId();
    }
}
