package coevo.extension;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Dependency;
import org.apache.maven.model.DependencyManagement;
import org.apache.maven.model.Plugin;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.VersionRangeRequest;
import org.eclipse.aether.resolution.VersionRangeResolutionException;
import org.eclipse.aether.resolution.VersionRangeResult;
import org.eclipse.aether.version.Version;
import org.eclipse.aether.version.VersionConstraint;

/**
 * Replaces version ranges in a project's dependencies by the lowest version in each range. Maven
 * would take the highest version of the day; the lowest one is sufficient according to the POM and
 * never changes.
 *
 * <p>A range without a lower bound is kept, since its lowest version is merely the oldest one of
 * all.
 */
final class Ranges {
    private final RepositorySystem repositories;
    private final MavenSession session;

    Ranges(RepositorySystem repositories, MavenSession session) {
        this.repositories = repositories;
        this.session = session;
    }

    /** Pins ranges in a project and its plugins; returns whether there were any. */
    boolean pin(MavenProject project) {
        boolean pinned = pin(project.getDependencies(), project.getRemoteProjectRepositories());
        DependencyManagement managed = project.getDependencyManagement();
        if (managed != null) {
            pinned |= pin(managed.getDependencies(), project.getRemoteProjectRepositories());
        }
        for (Plugin plugin : project.getBuildPlugins()) {
            pinned |= pin(plugin.getDependencies(), project.getRemotePluginRepositories());
        }
        return pinned;
    }

    private boolean pin(List<Dependency> dependencies, List<RemoteRepository> places) {
        List<Dependency> open = new ArrayList<>(dependencies);
        open.removeIf(it -> !Unpinned.isRange(it.getVersion()) || isOfTheReactor(it));
        open.forEach(it -> it.setVersion(lowest(it, places)));
        return open.stream().anyMatch(it -> !Unpinned.isRange(it.getVersion()));
    }

    /** Returns whether a dependency is a module of the build, whose version is fixed. */
    private boolean isOfTheReactor(Dependency dependency) {
        return session.getProjects().stream()
                .anyMatch(
                        it ->
                                it.getGroupId().equals(dependency.getGroupId())
                                        && it.getArtifactId().equals(dependency.getArtifactId()));
    }

    /**
     * Returns the lowest version; the range itself if it has no lower bound or no version is found.
     */
    private String lowest(Dependency dependency, List<RemoteRepository> places) {
        String range = dependency.getVersion();
        VersionRangeRequest request =
                new VersionRangeRequest(
                        new DefaultArtifact(
                                dependency.getGroupId(), dependency.getArtifactId(), "pom", range),
                        places,
                        "project");
        try {
            VersionRangeResult found =
                    repositories.resolveVersionRange(session.getRepositorySession(), request);
            return hasLowerEnd(found.getVersionConstraint())
                    ? versions(found).findFirst().orElse(range)
                    : range;
        } catch (VersionRangeResolutionException unreadable) {
            return range;
        }
    }

    private static boolean hasLowerEnd(VersionConstraint constraint) {
        return constraint.getRange() != null && constraint.getRange().getLowerBound() != null;
    }

    /** Returns the fixed versions, ascending. */
    private static Stream<String> versions(VersionRangeResult found) {
        return found.getVersions().stream()
                .map(Version::toString)
                .filter(it -> !Unpinned.isOpen(it));
    }
}
