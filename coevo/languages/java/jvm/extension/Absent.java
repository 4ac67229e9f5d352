package coevo.extension;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.eclipse.aether.repository.RemoteRepository;

/** A missing artifact that a build needed: the kind of problem, and GROUP:ARTIFACT:VERSION. */
final class Absent {
    private static final String PARENT = "parent_missing";
    private static final String SIBLING = "sibling_not_packaged";
    private static final String PLAIN_HTTP = "plain_http_repository";
    private static final String OTHER_REPOSITORY = "other_repository";
    private static final String LIBRARY = "library_missing";

    private static final String CENTRAL = "central";

    final String kind;
    final String coordinates;

    private Absent(String kind, String coordinates) {
        this.kind = kind;
        this.coordinates = coordinates;
    }

    /** An artifact whose version is not fixed. */
    static Absent open(String coordinates) {
        return new Absent(Unpinned.kind(coordinates), coordinates);
    }

    /** The parent of a module, or a POM that a module imports. */
    static Absent parent(String coordinates) {
        return new Absent(PARENT, coordinates);
    }

    /** An artifact of another module of the build that exists only after packaging. */
    static Absent sibling(String coordinates) {
        return new Absent(SIBLING, coordinates);
    }

    /**
     * A library or plugin. The kind depends on the repositories that POMs name for it, none of
     * which coevo's settings allow.
     *
     * <p>@param asked the repository; null if it is unknown
     */
    static Absent library(String coordinates, RemoteRepository asked) {
        List<RemoteRepository> named =
                meant(asked)
                        .filter(it -> it.getPolicy(false).isEnabled())
                        .filter(it -> !CENTRAL.equals(it.getId()))
                        .collect(Collectors.toList());
        if (named.isEmpty()) {
            return new Absent(LIBRARY, coordinates);
        }
        boolean plain = named.stream().allMatch(Absent::isPlain);
        return new Absent(plain ? PLAIN_HTTP : OTHER_REPOSITORY, coordinates);
    }

    /** Returns the repositories that a mirror stands for. */
    private static Stream<RemoteRepository> meant(RemoteRepository asked) {
        if (asked == null) {
            return Stream.empty();
        }
        List<RemoteRepository> mirrored = asked.getMirroredRepositories();
        return mirrored.isEmpty() ? Stream.of(asked) : mirrored.stream();
    }

    private static boolean isPlain(RemoteRepository repository) {
        return "http".equalsIgnoreCase(repository.getProtocol());
    }
}
