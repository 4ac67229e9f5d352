package coevo.builder;

import static java.util.stream.Collectors.joining;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What goes back: JSON, and folders of files by the prefix that their paths get.
 *
 * @param last whether the process cannot be trusted to go on
 */
record Response(Map<String, Object> json, Map<String, Path> folders, boolean last) {
    static Response of(String status) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("status", status);
        return new Response(json, new TreeMap<>(), false);
    }

    static Response crashed(Throwable thrown) {
        Response response = of("crashed");
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace));
        response.json.put("log", trace.toString().lines().limit(30).collect(joining("\n")));
        return response;
    }

    static Response outOfMemory() {
        return new Response(of("out_of_memory").json, Map.of(), true);
    }
}
