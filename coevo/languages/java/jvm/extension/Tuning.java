package coevo.extension;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
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
 * Adjusts each effective model before the build: no style checks, no compilation of tests unless
 * another module needs them, no source level that the JDK does not support.
 */
@Named
@Singleton
public final class Tuning extends AbstractMavenLifecycleParticipant {
    /** Context value of a project: whether its compiler level was raised. */
    static final String LEVEL_RAISED = "coevo.level_raised";

    /** Context value of a project: whether checks inside its compiler were left out. */
    static final String LINTERS = "coevo.linters";

    /** Context value of a project: its plugins that were left out on request. */
    static final String WITHOUT = "coevo.without";

    /** Context value of a project: whether ranges were replaced by their lowest versions. */
    static final String RANGES = "coevo.ranges";

    /** Context value of a project: its first dependency without a fixed version. */
    static final String UNPINNED = "coevo.unpinned";

    /** Context value of a project: whether Maven compiles its tests. */
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
        Umpire umpire = Umpire.of(session.getUserProperties());
        Path checkout = session.getTopLevelProject().getBasedir().toPath();
        for (MavenProject project : session.getProjects()) {
            boolean compile =
                    mode.equals("true")
                            || mode.equals("auto") && needed.contains(key(project))
                            || umpire != null && umpire.concerns(project);
            leaveOut(project, without);
            leaveForeignFolders(project, checkout);
            tune(project, compile);
            project.setContextValue(RANGES, new Ranges(repositories, session).pin(project));
            project.setContextValue(UNPINNED, unpinned.find(project));
        }
    }

    /** @param names plugins, or single executions of one as {@code PLUGIN@EXECUTION} */
    private static void leaveOut(MavenProject project, List<String> names) {
        List<String> left = new ArrayList<>();
        List<Plugin> plugins = project.getBuild().getPlugins();
        for (Plugin plugin : plugins) {
            String name = plugin.getArtifactId();
            if (names.contains(name)) {
                left.add(name);
            }
            for (PluginExecution execution : new ArrayList<>(plugin.getExecutions())) {
                if (names.contains(name + "@" + execution.getId())) {
                    left.add(name + "@" + execution.getId());
                    plugin.removeExecution(execution);
                }
            }
        }
        plugins.removeIf(it -> left.contains(it.getArtifactId()));
        Collections.sort(left);
        project.setContextValue(WITHOUT, left);
    }

    /**
     * Leaves out folders of sources and resources outside the checkout. There are only system files
     * there: with {@code <sourceDirectory>/</sourceDirectory>} the compiler reads them all, for many
     * minutes.
     */
    private static void leaveForeignFolders(MavenProject project, Path checkout) {
        Predicate<String> isForeign =
                folder ->
                        folder != null
                                && !project.getBasedir()
                                        .toPath()
                                        .resolve(folder)
                                        .normalize()
                                        .startsWith(checkout);
        project.getCompileSourceRoots().removeIf(isForeign);
        project.getTestCompileSourceRoots().removeIf(isForeign);
        project.getResources().removeIf(it -> isForeign.test(it.getDirectory()));
        project.getTestResources().removeIf(it -> isForeign.test(it.getDirectory()));
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
     * Makes the goal skip its work; it still runs, so that Maven resolves the test class path for
     * it. Version 3.6.0 reports that it skips but compiles anyway, so all sources are excluded as
     * well.
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

    /**
     * Leaves out the compilation of Groovy tests. They may use Java tests, which are not compiled
     * here, and they are never run.
     */
    private static void leaveGroovyTests(Plugin plugin) {
        for (PluginExecution execution : plugin.getExecutions()) {
            if (plugin.getArtifactId().equals("gmavenplus-plugin")) {
                execution.getGoals().remove("compileTests");
            } else if (plugin.getArtifactId().equals("gmaven-plugin")) {
                execution.getGoals().remove("testCompile");
            }
        }
    }

    /**
     * Lets the plugin that reads the Git history succeed without one: its output may be a resource
     * of the project, but these trees have no history.
     */
    private static void tolerateNoGit(Plugin plugin) {
        if (plugin.getArtifactId().startsWith("git-commit-id-")) {
            String name = "failOnNoGitDirectory";
            plugin.setConfiguration(with(plugin.getConfiguration(), name, "false"));
            for (PluginExecution execution : plugin.getExecutions()) {
                execution.setConfiguration(with(execution.getConfiguration(), name, "false"));
            }
        }
    }

    /** Returns GROUP:ARTIFACT of the modules whose test classes another module depends on. */
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
