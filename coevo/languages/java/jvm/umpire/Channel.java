package coevo.umpire;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Sends outcomes of tests as lines of {@code NONCE TAB JSON} to a named pipe. Several test JVMs may
 * write at the same time: a line is one write, short enough to be atomic.
 */
final class Channel {
    /** The bytes that a pipe takes at once; a longer line is not sent. */
    private static final int ATOMIC = 4096;

    private static final String PIPE = System.getProperty("coevo.umpire.pipe");
    private static final String NONCE = System.getProperty("coevo.umpire.nonce");

    private Channel() {}

    /** Sends that a listener has been loaded. */
    static void sendStart() {
        send("{\"e\":\"listening\"}");
    }

    /**
     * Sends the outcome of a test method, or of a whole class.
     *
     * <p>@param method null for the class
     *
     * <p>@param parameters the simple names of the method's parameter types, separated by commas;
     * null if they are unknown
     */
    static void send(String type, String method, String parameters, String outcome) {
        send(
                "{\"e\":\"outcome\",\"class\":"
                        + quote(type)
                        + ",\"method\":"
                        + quote(method)
                        + ",\"parameters\":"
                        + quote(parameters)
                        + ",\"outcome\":"
                        + quote(outcome)
                        + "}");
    }

    private static synchronized void send(String json) {
        if (PIPE == null || NONCE == null) {
            return; // not run by coevo
        }
        byte[] line = (NONCE + '\t' + json + '\n').getBytes(StandardCharsets.UTF_8);
        if (line.length > ATOMIC) {
            return;
        }
        // closed at once: a process that a test leaves behind must not keep the pipe open
        try (OutputStream pipe = new FileOutputStream(PIPE, true)) {
            pipe.write(line);
        } catch (IOException | SecurityException closed) {
            return; // the run is over, or the test took the right to write
        }
    }

    private static String quote(String value) {
        if (value == null) {
            return "null";
        }
        StringBuilder text = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        return text.append('"').toString();
    }
}
