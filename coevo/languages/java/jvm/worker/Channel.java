package coevo.worker;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** Sends events as lines of {@code NONCE TAB JSON}, flushed one by one. */
final class Channel {
    private final OutputStream stream;
    private final String nonce;

    Channel(OutputStream stream, String nonce) {
        this.stream = stream;
        this.nonce = nonce;
    }

    synchronized void send(Event event) {
        try {
            stream.write((nonce + '\t' + event + '\n').getBytes(StandardCharsets.UTF_8));
            stream.flush();
        } catch (IOException e) {
            Runtime.getRuntime().halt(3); // the other side has closed the channel
        }
    }
}
