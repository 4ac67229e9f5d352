package coevo.extension;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Throwables as JSON. */
final class Failures {
    private static final int MESSAGE = 2000;

    private Failures() {}

    /** As if a goal of that name had failed. */
    static Map<String, Object> unpinned(Object coordinates) {
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("mojo", "unpinned_dependency");
        failure.put("message", coordinates);
        return failure;
    }

    static Map<String, Object> describe(Throwable thrown) {
        List<String> types = new ArrayList<>();
        for (Throwable at = thrown; at != null && types.size() < 20; at = at.getCause()) {
            types.add(at.getClass().getName());
        }
        String message = String.valueOf(thrown.getMessage());
        Map<String, Object> failure = new LinkedHashMap<>();
        failure.put("exceptions", types);
        failure.put("message", message.substring(0, Math.min(MESSAGE, message.length())));
        return failure;
    }
}
