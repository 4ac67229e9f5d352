package coevo.relay;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Forwards TCP connections to a Unix socket, which JVMs before 16 cannot open. */
public final class Relay {
    private static final int BLOCK = 1 << 16;
    private static final int BACKLOG = 64;

    private Relay() {}

    /** Prints the free port on which it listens; the only argument is the path of the socket. */
    public static void main(String[] arguments) throws IOException {
        ServerSocketChannel server = ServerSocketChannel.open();
        server.bind(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), BACKLOG);
        UnixDomainSocketAddress target = UnixDomainSocketAddress.of(arguments[0]);
        System.out.println(((InetSocketAddress) server.getLocalAddress()).getPort());
        System.out.close();
        while (true) {
            connect(server.accept(), target);
        }
    }

    private static void connect(SocketChannel near, UnixDomainSocketAddress target)
            throws IOException {
        try {
            SocketChannel far = SocketChannel.open(target);
            run("relay-up", () -> pump(near, far));
            run("relay-down", () -> pump(far, near));
        } catch (IOException e) {
            System.err.println("relay: " + e);
            near.close();
        }
    }

    /** Copies until one side ends, then closes both: HTTP clients do not use half-close. */
    private static void pump(SocketChannel from, SocketChannel to) {
        ByteBuffer buffer = ByteBuffer.allocate(BLOCK);
        try (from;
                to) {
            while (from.read(buffer) >= 0) {
                buffer.flip();
                while (buffer.hasRemaining()) {
                    to.write(buffer);
                }
                buffer.clear();
            }
        } catch (IOException e) {
            return; // the other pump has closed both, or a peer disconnected
        }
    }

    private static void run(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.start();
    }
}
