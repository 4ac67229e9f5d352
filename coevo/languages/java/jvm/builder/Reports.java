package coevo.builder;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads the report that coevo's extension or script wrote in a build tool. */
final class Reports {
    private static final TypeToken<Map<String, Object>> MAP = new TypeToken<Map<String, Object>>() {};

    private Reports() {}

    /**
     * Returns the report with {@code exit} and {@code log} added; the file is empty if the tool
     * stopped too early.
     */
    static Map<String, Object> read(Path file, int exit, Tail log) throws IOException {
        String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
        Map<String, Object> report = new Gson().fromJson(text, MAP);
        Map<String, Object> result = new LinkedHashMap<>();
        result.put("exit", exit);
        if (report != null) {
            result.putAll(report);
        }
        result.put("log", log.take());
        return result;
    }
}
