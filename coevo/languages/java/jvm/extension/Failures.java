package coevo.extension;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.plugin.PluginResolutionException;

/** Describes throwables as JSON. */
final class Failures {
    private static final int MESSAGE = 2000;

    private Failures() {}

    static Map<String, Object> unpinned(String coordinates) {
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("kind", Unpinned.kind(coordinates));
        failure.put("absent", coordinates);
        return failure;
    }

    /**
     * Describes a failure, with the missing artifact and the unresolvable plugin if there are any.
     */
    static Map<String, Object> describe(Throwable thrown, Absences absences) {
        List<String> types = new ArrayList<>();
        String plugin = null;
        for (Throwable at = thrown; at != null && types.size() < 20; at = at.getCause()) {
            types.add(at.getClass().getName());
            if (at instanceof PluginResolutionException) {
                plugin = ((PluginResolutionException) at).getPlugin().getArtifactId();
            }
        }
        Absent absent = absences.first(thrown);
        String message = String.valueOf(thrown.getMessage());
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("exceptions", types);
        failure.put("message", message.substring(0, Math.min(MESSAGE, message.length())));
        failure.put("kind", absent == null ? null : absent.kind);
        failure.put("absent", absent == null ? null : absent.coordinates);
        failure.put("plugin", plugin);
        return failure;
    }
}
