package coevo.extension;

import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.DependencyManagement;
import org.apache.maven.model.Parent;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;

/**
 * Finds dependencies that vary with the day of the build: snapshots, ranges, the latest version.
 */
final class Unpinned {
    private static final String SNAPSHOT = "snapshot_dependency";
    private static final String OPEN = "unpinned_dependency";

    private static final Set<String> LATEST = new HashSet<>(Arrays.asList("LATEST", "RELEASE"));

    private static final int DEPTH = 20;

    private final Set<String> reactor;

    Unpinned(List<MavenProject> projects) {
        reactor =
                projects.stream()
                        .map(it -> key(it.getGroupId(), it.getArtifactId(), it.getVersion()))
                        .collect(Collectors.toSet());
    }

    /** Returns the coordinates of the first such dependency; null if all versions are fixed. */
    String find(MavenProject project) {
        return Stream.of(
                        parents(project),
                        dependencies(project.getDependencies()),
                        imports(project),
                        plugins(project.getBuildPlugins()),
                        extensions(project))
                .flatMap(it -> it)
                .filter(it -> !reactor.contains(it))
                .findFirst()
                .orElse(null);
    }

    /** Returns the first snapshot among the resolved libraries, including transitive ones. */
    String find(Collection<Artifact> artifacts) {
        return artifacts.stream()
                .filter(it -> !Artifact.SCOPE_SYSTEM.equals(it.getScope()))
                .filter(it -> isSnapshot(it.getBaseVersion()))
                .map(it -> key(it.getGroupId(), it.getArtifactId(), it.getBaseVersion()))
                .filter(it -> !reactor.contains(it))
                .findFirst()
                .orElse(null);
    }

    /** Returns the parents without a fixed version that are not files of the tree. */
    private static Stream<String> parents(MavenProject project) {
        Stream<String> found = Stream.empty();
        for (MavenProject at = project; at != null; at = at.getParent()) {
            Parent parent = at.getOriginalModel().getParent();
            if (parent != null && at.getParentFile() == null && isOpen(parent.getVersion())) {
                String key = key(parent.getGroupId(), parent.getArtifactId(), parent.getVersion());
                found = Stream.concat(found, Stream.of(key));
            }
        }
        return found;
    }

    /**
     * Returns the dependencies without a fixed version. Libraries inside the tree are left out,
     * since they are fixed whatever their version.
     */
    private static Stream<String> dependencies(List<Dependency> dependencies) {
        return dependencies.stream()
                .filter(it -> !Artifact.SCOPE_SYSTEM.equals(it.getScope()))
                .filter(it -> isOpen(it.getVersion()))
                .map(it -> key(it.getGroupId(), it.getArtifactId(), it.getVersion()));
    }

    /**
     * Returns the imported POMs without a fixed version; the effective model no longer mentions
     * them.
     */
    private static Stream<String> imports(MavenProject project) {
        Stream<String> found = Stream.empty();
        for (MavenProject at = project; at != null; at = at.getParent()) {
            DependencyManagement managed = at.getOriginalModel().getDependencyManagement();
            if (managed != null) {
                Stream<String> more =
                        managed.getDependencies().stream()
                                .filter(it -> "import".equals(it.getScope()))
                                .map(it -> interpolated(it, project))
                                .filter(it -> isOpen(it.getVersion()))
                                .map(it -> key(it.getGroupId(), it.getArtifactId(), it.getVersion()));
                found = Stream.concat(found, more);
            }
        }
        return found;
    }

    private static Stream<String> plugins(List<Plugin> plugins) {
        return plugins.stream()
                .flatMap(
                        it ->
                                Stream.concat(
                                        Stream.of(it)
                                                .filter(one -> isOpen(one.getVersion()))
                                                .map(one -> one.getKey() + ":" + one.getVersion()),
                                        dependencies(it.getDependencies())));
    }

    private static Stream<String> extensions(MavenProject project) {
        return project.getBuildExtensions().stream()
                .filter(it -> isOpen(it.getVersion()))
                .map(it -> key(it.getGroupId(), it.getArtifactId(), it.getVersion()));
    }

    private static Dependency interpolated(Dependency raw, MavenProject project) {
        Properties known = new Properties();
        known.putAll(project.getProperties());
        for (String prefix : Arrays.asList("project.", "pom.", "")) {
            known.setProperty(prefix + "version", project.getVersion());
            known.setProperty(prefix + "groupId", project.getGroupId());
        }
        Dependency found = raw.clone();
        found.setGroupId(interpolated(raw.getGroupId(), known));
        found.setArtifactId(interpolated(raw.getArtifactId(), known));
        found.setVersion(interpolated(raw.getVersion(), known));
        return found;
    }

    private static String interpolated(String text, Properties known) {
        String found = text;
        for (int depth = 0; found != null && found.contains("${") && depth < DEPTH; depth++) {
            int start = found.indexOf("${");
            int end = found.indexOf('}', start);
            String value = end < 0 ? null : known.getProperty(found.substring(start + 2, end));
            if (value == null) {
                return found;
            }
            found = found.substring(0, start) + value + found.substring(end + 1);
        }
        return found;
    }

    /** Returns the kind of failure for coordinates without a fixed version. */
    static String kind(String coordinates) {
        return isSnapshot(coordinates) ? SNAPSHOT : OPEN;
    }

    /** Returns whether GROUP:ARTIFACT:VERSION is a module of the build. */
    boolean isOfTheReactor(String coordinates) {
        return reactor.contains(coordinates);
    }

    static boolean isOpen(String version) {
        return LATEST.contains(version) || isRange(version) || isSnapshot(version);
    }

    private static boolean isSnapshot(String version) {
        return version != null && version.toUpperCase(Locale.ROOT).endsWith("-SNAPSHOT");
    }

    /** Returns whether a version is a range; a range of one version, such as [1.2], is not. */
    static boolean isRange(String version) {
        return version != null && version.matches("[\\[(].*") && version.contains(",");
    }

    private static String key(String group, String artifact, String version) {
        return group + ":" + artifact + ":" + version;
    }
}
