package coevo.extension;

import java.util.List;
import javax.inject.Inject;
import javax.inject.Named;
import javax.inject.Singleton;
import org.apache.maven.artifact.InvalidRepositoryException;
import org.apache.maven.artifact.repository.ArtifactRepository;
import org.apache.maven.model.Build;
import org.apache.maven.model.Model;
import org.apache.maven.model.Repository;
import org.apache.maven.plugin.PluginManagerException;
import org.apache.maven.plugin.PluginResolutionException;
import org.apache.maven.plugin.version.PluginVersionResolutionException;
import org.apache.maven.project.MavenProject;
import org.apache.maven.project.ProjectBuildingHelper;
import org.apache.maven.project.ProjectBuildingRequest;
import org.apache.maven.project.ProjectRealmCache;
import org.eclipse.sisu.Priority;

/**
 * Wraps Maven's own helper, which resolves a project's extensions while it reads the project.
 * Extensions that only document or publish it are left out, since their repositories often no
 * longer exist.
 */
@Named("coevo")
@Singleton
@Priority(Integer.MAX_VALUE)
public final class Assembly implements ProjectBuildingHelper {
    private final ProjectBuildingHelper maven;

    @Inject
    Assembly(@Named("default") ProjectBuildingHelper maven) {
        this.maven = maven;
    }

    @Override
    public List<ArtifactRepository> createArtifactRepositories(
            List<Repository> named, List<ArtifactRepository> external, ProjectBuildingRequest request)
            throws InvalidRepositoryException {
        return maven.createArtifactRepositories(named, external, request);
    }

    @Override
    public ProjectRealmCache.CacheRecord createProjectRealm(
            MavenProject project, Model model, ProjectBuildingRequest request)
            throws PluginResolutionException,
                    PluginVersionResolutionException,
                    PluginManagerException {
        Build build = model.getBuild();
        if (build != null) {
            build.getExtensions().removeIf(Irrelevant::isExtension);
            build.getPlugins().stream()
                    .filter(Irrelevant::isPlugin)
                    .forEach(it -> it.setExtensions(false));
        }
        return maven.createProjectRealm(project, model, request);
    }

    @Override
    public void selectProjectRealm(MavenProject project) {
        maven.selectProjectRealm(project);
    }
}
