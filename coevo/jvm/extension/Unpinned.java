package coevo.extension;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.Parent;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;

/** Finds what a project leaves to the day it is built on: snapshots, ranges, the latest version. */
final class Unpinned {
    private static final Set<String> LATEST = new HashSet<>(Arrays.asList("LATEST", "RELEASE"));

    private final Set<String> reactor;

    Unpinned(List<MavenProject> projects) {
        reactor =
                projects.stream()
                        .map(it -> key(it.getGroupId(), it.getArtifactId(), it.getVersion()))
                        .collect(Collectors.toSet());
    }

    /** The coordinates of the first one, null if all is pinned. */
    String find(MavenProject project) {
        Parent parent = project.getOriginalModel().getParent();
        if (parent != null && isRange(parent.getVersion())) {
            return key(parent.getGroupId(), parent.getArtifactId(), parent.getVersion());
        }
        for (Dependency one : project.getDependencies()) {
            String key = key(one.getGroupId(), one.getArtifactId(), one.getVersion());
            if (isOpen(one.getVersion()) && !reactor.contains(key)) {
                return key;
            }
        }
        for (Plugin one : project.getBuildPlugins()) {
            String key = key(one.getGroupId(), one.getArtifactId(), one.getVersion());
            if (isOpen(one.getVersion()) && !reactor.contains(key)) {
                return key;
            }
        }
        return null;
    }

    private static boolean isOpen(String version) {
        return version != null
                && (LATEST.contains(version) || isRange(version) || isSnapshot(version));
    }

    private static boolean isSnapshot(String version) {
        return version.toUpperCase(Locale.ROOT).endsWith("-SNAPSHOT");
    }

    /** A range of one version, such as [1.2], leaves nothing open. */
    private static boolean isRange(String version) {
        return version != null && version.matches("[\\[(].*") && version.contains(",");
    }

    private static String key(String group, String artifact, String version) {
        return group + ":" + artifact + ":" + version;
    }
}
