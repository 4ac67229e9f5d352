package coevo.builder;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Something that does not compile.
 *
 * @param type binary name
 * @param method null for all of the type
 */
record Broken(String type, String method, List<String> parameters, String signature) {
    Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("class", type);
        map.put("method", method);
        map.put("parameters", parameters);
        map.put("signature", signature);
        return map;
    }
}
