package coevo.builder;

import java.io.OutputStream;
import java.io.PrintStream;
import java.io.UnsupportedEncodingException;
import java.nio.charset.StandardCharsets;

/** Keeps the last 8 KiB of the output of this process, for reports that people read. */
final class Tail extends OutputStream {
    private static final int SIZE = 8192;

    private final byte[] ring = new byte[SIZE];
    private final PrintStream stream;
    private long written;

    private Tail() throws UnsupportedEncodingException {
        stream = new PrintStream(this, true, StandardCharsets.UTF_8.name());
    }

    static Tail replaceOutput() throws UnsupportedEncodingException {
        Tail tail = new Tail();
        tail.redirect();
        return tail;
    }

    void redirect() {
        System.setOut(stream);
        System.setErr(stream);
    }

    PrintStream stream() {
        return stream;
    }

    @Override
    public synchronized void write(int b) {
        ring[(int) (written++ % SIZE)] = (byte) b;
    }

    /** Returns the last output and forgets it. */
    synchronized String take() {
        int size = (int) Math.min(written, SIZE);
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = ring[(int) ((written - size + i) % SIZE)];
        }
        written = 0;
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
