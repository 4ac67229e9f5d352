package coevo.builder;

import java.io.IOException;

/** Answers requests to read execution data on stdin until it ends; runs no code of projects. */
public final class Tracer {
    private Tracer() {}

    public static void main(String[] arguments) throws IOException {
        Wire wire = Wire.open();
        for (Request next = wire.next(); next != null; next = wire.next()) {
            Response response = answer(next);
            wire.send(response);
            if (response.last) {
                return;
            }
        }
    }

    private static Response answer(Request request) {
        try {
            return new Execution(request).run();
        } catch (OutOfMemoryError e) {
            return Response.outOfMemory();
        } catch (IOException | RuntimeException | StackOverflowError e) {
            return Response.crashed(e);
        }
    }
}
