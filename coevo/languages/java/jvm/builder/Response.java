package coevo.builder;

import static java.util.stream.Collectors.joining;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A response: JSON, and folders of files by the prefix that their paths get. */
final class Response {
    final Map<String, Object> json;
    final Map<String, Path> folders;
    final boolean last; // whether the process must end, since its state is unreliable

    private Response(Map<String, Object> json, Map<String, Path> folders, boolean last) {
        this.json = json;
        this.folders = folders;
        this.last = last;
    }

    static Response of(String status) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("status", status);
        return new Response(json, new TreeMap<>(), false);
    }

    static Response crashed(Throwable thrown) {
        Response response = of("crashed");
        StringWriter trace = new StringWriter();
        thrown.printStackTrace(new PrintWriter(trace));
        response.json.put("log", Stream.of(trace.toString().split("\\R")).limit(30).collect(joining("\n")));
        return response;
    }

    static Response outOfMemory() {
        return of("out_of_memory").asTheLast();
    }

    Response asTheLast() {
        return new Response(json, folders, true);
    }
}
