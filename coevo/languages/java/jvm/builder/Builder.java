package coevo.builder;

import java.io.IOException;
import java.util.Locale;
import java.util.Properties;
import java.util.TimeZone;

/**
 * Answers requests on stdin until it ends: {@code build} with Maven or Gradle, {@code resolve} with
 * Maven, {@code compile} with the stubbing compiler, {@code check} with the plain one. Its
 * arguments are the Maven home and the extension's jar.
 *
 * <p>A request is the command's name, then {@code key=value} strings; keys may repeat.
 */
public final class Builder {
    private Builder() {}

    public static void main(String[] arguments) throws IOException {
        Wire wire = Wire.open();
        Tail log = Tail.replaceOutput();
        Maven maven = new Maven(arguments[0], arguments[1], log);
        Gradle gradle = new Gradle(log);
        for (Request next = wire.next(); next != null; next = wire.next()) {
            Request request = next;
            Properties properties = (Properties) System.getProperties().clone();
            Locale locale = Locale.getDefault();
            TimeZone zone = TimeZone.getDefault();
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            long before = Cpu.millis();
            Response response = answer(request, maven, gradle);
            response.json.put("cpu_ms", Cpu.millis() - before);
            System.setProperties(properties);
            Locale.setDefault(locale);
            TimeZone.setDefault(zone);
            Thread.currentThread().setContextClassLoader(loader);
            log.redirect(); // a plugin may have replaced System.out
            wire.send(response);
            if (response.last) {
                Runtime.getRuntime().halt(4);
            }
        }
        Compilation.clean();
        // threads that plugins left behind must not keep the JVM alive
        Runtime.getRuntime().halt(0);
    }

    private static Response answer(Request request, Maven maven, Gradle gradle) {
        try {
            switch (request.command) {
                case "build":
                    return new Build(request, maven, gradle).run();
                case "resolve":
                    return new Resolve(request, maven).run();
                case "compile":
                    return new Compilation(request).run();
                case "check":
                    return new Check(request).run();
                default:
                    throw new IllegalArgumentException(request.command);
            }
        } catch (OutOfMemoryError e) {
            return Response.outOfMemory();
        } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
            return Response.crashed(e); // the next request may succeed
        }
    }
}
