package coevo.builder;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A command and its {@code key=value} arguments. */
final class Request {
    final String command;
    private final Map<String, List<String>> arguments;

    private Request(String command, Map<String, List<String>> arguments) {
        this.command = command;
        this.arguments = arguments;
    }

    static Request of(List<String> strings) {
        Map<String, List<String>> arguments = new LinkedHashMap<>();
        for (String string : strings.subList(1, strings.size())) {
            int equals = string.indexOf('=');
            arguments
                    .computeIfAbsent(string.substring(0, equals), key -> new ArrayList<>())
                    .add(string.substring(equals + 1));
        }
        return new Request(strings.get(0), arguments);
    }

    List<String> all(String key) {
        return arguments.getOrDefault(key, Collections.emptyList());
    }

    String one(String key) {
        return all(key).get(0);
    }

    String one(String key, String otherwise) {
        List<String> values = all(key);
        return values.isEmpty() ? otherwise : values.get(0);
    }
}
