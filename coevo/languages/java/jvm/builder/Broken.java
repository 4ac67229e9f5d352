package coevo.builder;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A class or method that does not compile. */
final class Broken {
    final String type; // binary name
    final String method; // null for the whole type
    final List<String> parameters;
    final String signature;

    Broken(String type, String method, List<String> parameters, String signature) {
        this.type = type;
        this.method = method;
        this.parameters = parameters;
        this.signature = signature;
    }

    Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("class", type);
        map.put("method", method);
        map.put("parameters", parameters);
        map.put("signature", signature);
        return map;
    }
}
