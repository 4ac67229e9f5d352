package coevo.builder;

import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import javax.tools.Diagnostic;
import javax.tools.JavaFileObject;

/** An error of the compiler. */
final class Problem {
    private static final int SYMBOL = 120;

    final URI file; // null without a position in a source file
    final int position; // in characters
    final int line;
    final String code; // such as cant.resolve
    final String symbol; // the symbol concerned, in the compiler's words

    Problem(URI file, int position, int line, String code, String symbol) {
        this.file = file;
        this.position = position;
        this.line = line;
        this.code = code;
        this.symbol = symbol;
    }

    static Problem of(Diagnostic<? extends JavaFileObject> diagnostic) {
        JavaFileObject source = diagnostic.getSource();
        boolean placed = source != null && diagnostic.getPosition() != Diagnostic.NOPOS;
        String message = diagnostic.getMessage(Locale.ENGLISH);
        return new Problem(
                placed ? source.toUri() : null,
                (int) diagnostic.getPosition(),
                (int) diagnostic.getLineNumber(),
                code(String.valueOf(diagnostic.getCode()), message),
                symbol(message));
    }

    /**
     * Renames the error for a class name that is too long for a file, since the source causes it;
     * other failures to write a class file are caused by the machine.
     */
    private static String code(String code, String message) {
        String plain = code.replaceFirst("^compiler\\.err\\.", "");
        boolean tooLong = plain.equals("class.cant.write") && message.contains("File name too long");
        return tooLong ? "class.name.too.long" : plain;
    }

    /** Returns the symbol that the message names, else its first line. */
    private static String symbol(String message) {
        String[] lines = message.split("\\R", -1);
        String found = lines[0];
        for (String line : lines) {
            if (line.trim().startsWith("symbol:")) {
                found = line.trim().substring("symbol:".length());
                break;
            }
        }
        String plain = found.trim().replaceAll("\\s+", " ").replaceAll("/\\S*/", "");
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
