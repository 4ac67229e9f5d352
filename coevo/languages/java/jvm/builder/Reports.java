package coevo.builder;

import com.google.gson.Gson;
import com.google.gson.reflect.TypeToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;

/** What our part of a build tool has written. */
final class Reports {
    private static final TypeToken<Map<String, Object>> MAP = new TypeToken<Map<String, Object>>() {};

    private Reports() {}

    /** With {@code exit} and {@code log} beside it; an empty file is a tool that did not come so far. */
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
