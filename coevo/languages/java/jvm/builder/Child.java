package coevo.builder;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;

/** A build tool in a process of its own, whose output goes to the log. */
final class Child {
    private Child() {}

    /** Runs the process and returns its exit status. */
    static int run(ProcessBuilder builder, Tail log) throws IOException {
        builder.redirectErrorStream(true).redirectInput(new File("/dev/null"));
        Process process = builder.start();
        try (InputStream output = process.getInputStream()) {
            byte[] block = new byte[1 << 13];
            for (int read = output.read(block); read >= 0; read = output.read(block)) {
                log.stream().write(block, 0, read);
            }
            return process.waitFor();
        } catch (InterruptedException e) {
            throw new IOException(e);
        } finally {
            process.destroyForcibly();
        }
    }
}
