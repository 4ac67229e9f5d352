package coevo.worker;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Base64;
import java.util.jar.JarFile;

/**
 * The recordings of this JVM's JaCoCo agent, if it has one.
 *
 * <p>The agent is found by its own package's name, which is unique to its version: classes under
 * the public name may belong to the project.
 */
final class Coverage {
    /** Characters of one event; the reader limits the length of a line and the total. */
    private static final int PART = 1 << 19;

    private final Object agent;
    private final Method reset;
    private final Method data;

    private Coverage(Object agent, Method reset, Method data) {
        this.agent = agent;
        this.reset = reset;
        this.data = data;
    }

    /** Finds the agent in the first jar; without a jar, nothing is recorded. */
    static Coverage of(String[] jars) throws IOException {
        if (jars.length == 0) {
            return new Coverage(null, null, null);
        }
        try (JarFile jar = new JarFile(jars[0])) {
            String entry = jar.getManifest().getMainAttributes().getValue("Premain-Class");
            Class<?> type = Class.forName(entry.replaceFirst("\\w+$", "Agent"));
            return new Coverage(
                    type.getMethod("getInstance").invoke(null),
                    type.getMethod("reset"),
                    type.getMethod("getExecutionData", boolean.class));
        } catch (ReflectiveOperationException | LinkageError absent) {
            throw new IOException(absent);
        }
    }

    /** Forgets everything executed so far. */
    void reset() throws IOException {
        if (agent != null) {
            call(reset);
            Entries.reset();
        }
    }

    /** Sends what was executed since the last reset. */
    void send(int target, Channel channel) throws IOException {
        if (agent == null) {
            return;
        }
        byte[] bytes = (byte[]) call(data, true);
        String text = Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
        send(target, "covered", text, channel);
        send(target, "entered", Entries.entered(), channel);
    }

    private static void send(int target, String kind, String text, Channel channel) {
        for (int at = 0; at < text.length(); at += PART) {
            String part = text.substring(at, Math.min(at + PART, text.length()));
            channel.send(new Event(kind).with("t", target).with("data", part));
        }
    }

    private Object call(Method method, Object... arguments) throws IOException {
        try {
            return method.invoke(agent, arguments);
        } catch (IllegalAccessException | InvocationTargetException failed) {
            throw new IOException(failed);
        }
    }
}
