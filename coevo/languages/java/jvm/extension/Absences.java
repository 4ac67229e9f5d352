package coevo.extension;

import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.apache.maven.model.building.ModelBuildingException;
import org.apache.maven.model.building.ModelProblem;
import org.apache.maven.model.resolution.UnresolvableModelException;
import org.apache.maven.plugin.PluginResolutionException;
import org.apache.maven.plugin.version.PluginVersionResolutionException;
import org.apache.maven.project.DependencyResolutionException;
import org.apache.maven.project.DependencyResolutionResult;
import org.apache.maven.project.ProjectBuildingException;
import org.eclipse.aether.RepositoryEvent;
import org.eclipse.aether.RequestTrace;
import org.eclipse.aether.artifact.Artifact;
import org.eclipse.aether.repository.RemoteRepository;
import org.eclipse.aether.resolution.ArtifactDescriptorException;
import org.eclipse.aether.transfer.ArtifactNotFoundException;

/**
 * Finds missing artifacts in exceptions of Maven and its resolver, including those not in causes.
 */
final class Absences {
    private static final int MOST = 1000;

    private final Predicate<String> reactor;
    private final List<RepositoryEvent> unresolved;
    private final Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    /**
     * @param reactor whether GROUP:ARTIFACT:VERSION is a module of the build
     * @param unresolved the resolver's events, in order, about artifacts that were not found
     */
    Absences(Predicate<String> reactor, List<RepositoryEvent> unresolved) {
        this.reactor = reactor;
        this.unresolved = unresolved;
    }

    /** Returns the first missing artifact that a throwable reports; null if there is none. */
    Absent first(Throwable thrown) {
        seen.clear();
        return search(thrown, false, false);
    }

    /**
     * Returns the first missing artifact of a throwable and what is behind it; null if there is
     * none.
     *
     * @param ofLibrary whether it concerns the POM of a library
     * @param parent whether it concerns the parent of a module, or a POM that a module imports
     */
    private Absent search(Throwable at, boolean ofLibrary, boolean parent) {
        if (at == null || seen.size() > MOST || !seen.add(at)) {
            return null;
        }
        Absent own = own(at, parent);
        if (own != null) {
            return own;
        }
        boolean library = ofLibrary || at instanceof ArtifactDescriptorException;
        boolean above = !library && (parent || at instanceof UnresolvableModelException);
        for (Throwable next : behind(at)) {
            Absent found = search(next, library, above);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    private Absent own(Throwable at, boolean parent) {
        if (at instanceof ArtifactNotFoundException) {
            ArtifactNotFoundException missing = (ArtifactNotFoundException) at;
            return of(missing.getArtifact(), missing.getRepository(), parent);
        }
        if (at instanceof UnresolvableModelException) {
            UnresolvableModelException model = (UnresolvableModelException) at;
            String version = model.getVersion();
            String key = String.join(":", model.getGroupId(), model.getArtifactId(), version);
            return Unpinned.isOpen(version) ? Absent.open(key) : null;
        }
        if (at instanceof PluginVersionResolutionException) {
            PluginVersionResolutionException plugin = (PluginVersionResolutionException) at;
            return Absent.library(plugin.getGroupId() + ":" + plugin.getArtifactId(), null);
        }
        return null;
    }

    private Absent of(Artifact artifact, RemoteRepository asked, boolean parent) {
        String version = artifact.getBaseVersion();
        String key = String.join(":", artifact.getGroupId(), artifact.getArtifactId(), version);
        if (reactor.test(key)) {
            return Absent.sibling(key);
        }
        if (Unpinned.isOpen(version)) {
            return Absent.open(key);
        }
        return parent ? Absent.parent(key) : Absent.library(key, asked);
    }

    private List<Throwable> behind(Throwable at) {
        List<Throwable> found = new ArrayList<>();
        if (at instanceof ProjectBuildingException) {
            ProjectBuildingException reading = (ProjectBuildingException) at;
            if (reading.getResults() != null) {
                reading.getResults().forEach(it -> found.addAll(exceptions(it.getProblems())));
            }
        } else if (at instanceof ModelBuildingException) {
            found.addAll(exceptions(((ModelBuildingException) at).getProblems()));
        } else if (at instanceof DependencyResolutionException) {
            DependencyResolutionResult result = ((DependencyResolutionException) at).getResult();
            found.addAll(result.getCollectionErrors());
            result.getUnresolvedDependencies()
                    .forEach(it -> found.addAll(result.getResolutionErrors(it)));
        } else if (at instanceof PluginResolutionException) {
            found.addAll(told(((PluginResolutionException) at).getPlugin()));
        }
        found.add(at.getCause());
        return found;
    }

    /** Returns exceptions except those of warnings, whose missing artifacts did not matter. */
    private static List<Throwable> exceptions(List<ModelProblem> problems) {
        List<Throwable> found = new ArrayList<>();
        problems.stream()
                .filter(it -> it.getSeverity() != ModelProblem.Severity.WARNING)
                .forEach(it -> found.add(it.getException()));
        return found;
    }

    /**
     * Returns the exceptions of the last unresolved artifact of a plugin, whose own exception keeps
     * no causes. Missing POMs are reported as well, but earlier, and Maven tolerates them.
     */
    private List<Exception> told(Object plugin) {
        for (int i = unresolved.size() - 1; i >= 0; i--) {
            for (RequestTrace at = unresolved.get(i).getTrace(); at != null; at = at.getParent()) {
                if (at.getData() == plugin) {
                    return unresolved.get(i).getExceptions();
                }
            }
        }
        return Collections.emptyList();
    }
}
