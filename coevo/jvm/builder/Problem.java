package coevo.builder;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/**
 * An error of the compiler.
 *
 * @param file null where it has no place in a source file
 * @param position in characters
 * @param code such as cant.resolve
 * @param symbol what it is about, in the compiler's words
 */
record Problem(URI file, int position, int line, String code, String symbol) {
    private static final int SYMBOL = 120;

    static Problem of(Diagnostic<? extends JavaFileObject> diagnostic) {
        JavaFileObject source = diagnostic.getSource();
        boolean placed = source != null && diagnostic.getPosition() != Diagnostic.NOPOS;
        return new Problem(
                placed ? source.toUri() : null,
                (int) diagnostic.getPosition(),
                (int) diagnostic.getLineNumber(),
                String.valueOf(diagnostic.getCode()).replaceFirst("^compiler\\.err\\.", ""),
                symbol(diagnostic.getMessage(Locale.ENGLISH)));
    }

    /** The symbol that the message names, else its first line. */
    private static String symbol(String message) {
        String found = message.lines().findFirst().orElse("");
        for (String line : message.lines().toList()) {
            if (line.strip().startsWith("symbol:")) {
                found = line.strip().substring("symbol:".length());
                break;
            }
        }
        String plain = found.strip().replaceAll("\\s+", " ").replaceAll("/\\S*/", "");
        return plain.substring(0, Math.min(SYMBOL, plain.length()));
    }

    String signature() {
        return symbol.isEmpty() ? code : code + " " + symbol;
    }

    Map<String, Object> toMap(String name, int round) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("file", name);
        map.put("line", line);
        map.put("code", code);
        map.put("symbol", symbol);
        map.put("round", round);
        return map;
    }
}
