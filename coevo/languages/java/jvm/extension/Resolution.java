package coevo.extension;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.maven.MavenExecutionException;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.project.MavenProject;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.artifact.DefaultArtifact;
import org.eclipse.aether.collection.CollectRequest;
import org.eclipse.aether.graph.Dependency;
import org.eclipse.aether.resolution.ArtifactResult;
import org.eclipse.aether.resolution.DependencyRequest;
import org.eclipse.aether.resolution.DependencyResolutionException;

/** Resolves coordinates that no project mentions, with their runtime dependencies. */
final class Resolution {
    private final RepositorySystem repositories;
    private final MavenSession session;

    Resolution(RepositorySystem repositories, MavenSession session) {
        this.repositories = repositories;
        this.session = session;
    }

    /**
     * Resolves coordinates and stores the files, in resolution order, as the project's context
     * value "coevo.resolved".
     */
    void resolve(List<String> coordinates) throws MavenExecutionException {
        MavenProject project = session.getCurrentProject();
        try {
            List<Map<String, Object>> found =
                    artifacts(project, coordinates).stream()
                            .map(Resolution::describe)
                            .collect(Collectors.toList());
            project.setContextValue("coevo.resolved", found);
        } catch (DependencyResolutionException e) {
            throw new MavenExecutionException(e.getMessage(), e);
        }
    }

    /** Returns the files of coordinates and of their dependencies, in resolution order. */
    List<String> files(MavenProject project, List<String> coordinates)
            throws DependencyResolutionException {
        return artifacts(project, coordinates).stream()
                .map(artifact -> artifact.getFile().getPath())
                .collect(Collectors.toList());
    }

    private List<Artifact> artifacts(MavenProject project, List<String> coordinates)
            throws DependencyResolutionException {
        CollectRequest collect = new CollectRequest();
        collect.setRepositories(project.getRemoteProjectRepositories());
        for (String one : coordinates) {
            collect.addDependency(new Dependency(new DefaultArtifact(one), "runtime"));
        }
        DependencyRequest request = new DependencyRequest(collect, null);
        return repositories
                .resolveDependencies(session.getRepositorySession(), request)
                .getArtifactResults()
                .stream()
                .map(ArtifactResult::getArtifact)
                .collect(Collectors.toList());
    }

    private static Map<String, Object> describe(Artifact artifact) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("path", artifact.getFile().getPath());
        map.put("coordinates", String.valueOf(artifact));
        return map;
    }
}
