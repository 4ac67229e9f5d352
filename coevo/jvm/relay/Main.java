package coevo.relay;

import coevo.builder.Builder;
import java.io.IOException;
import java.util.Arrays;

/**
 * The builder behind a relay: the first argument is the proxy's socket, the others are the
 * builder's own. The relay's port is the system property {@code coevo.port}.
 */
public final class Main {
    private Main() {}

    public static void main(String[] arguments) throws IOException {
        System.setProperty("coevo.port", Integer.toString(Relay.start(arguments[0])));
        Builder.main(Arrays.copyOfRange(arguments, 1, arguments.length));
    }
}
