package coevo.worker;

import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a list of test methods, one JUnit Platform execution each, and writes the results to file
 * descriptor 3, one line per event. Everything that protects the channel is kept in local
 * variables, which tests cannot easily access.
 *
 * <p>Request: nonce, number of options, that many {@code key=value} (configuration parameters of
 * the JUnit Platform), then for each target its index, class names (comma separated; {@code
 * Sub/Outer$Inner} for a nested class that Sub inherits), method and erased simple parameter types (comma separated).
 *
 * <p>The first argument is the jar of this JVM's JaCoCo agent, if there is one; the worker then
 * also sends what each target executed. Further arguments are folders whose classes are reloaded
 * for each target; a target that leaves threads behind is then the last one.
 */
public final class Worker {
    private Worker() {}

    public static void main(String[] arguments) throws IOException {
        // System.in would keep the nonce in its buffer.
        List<String> request = read(new DataInputStream(new FileInputStream(FileDescriptor.in)));
        System.setIn(new ByteArrayInputStream(new byte[0]));
        Channel channel = new Channel(Descriptor.open(3), request.get(0));
        int options = Integer.parseInt(request.get(1));
        Map<String, String> parameters = new HashMap<>();
        for (String option : request.subList(2, 2 + options)) {
            int equals = option.indexOf('=');
            parameters.put(option.substring(0, equals), option.substring(equals + 1));
        }
        Coverage coverage = Coverage.of(arguments);
        Anew anew = Anew.of(arguments);
        channel.send(new Event("start"));
        for (int at = 2 + options; at < request.size(); at += 4) {
            Target target = Target.of(request.subList(at, at + 4));
            channel.send(new Event("begin").with("t", target.index));
            anew.begin();
            coverage.reset();
            try {
                new Run(target, parameters, channel, coverage).execute();
            } catch (LinkageError unfit) { // this JVM or this worker cannot use the platform
                report(target, unfit, channel);
            }
            if (anew.leavesThreads()) {
                break;
            }
        }
        channel.send(new Event("done"));
        Runtime.getRuntime().halt(0); // threads that tests left behind must not keep the JVM alive
    }

    private static void report(Target target, Throwable thrown, Channel channel) {
        Event test = new Event("test").with("t", target.index).with("id", "worker");
        channel.send(Failure.describe(test.with("display", target.method), thrown, false));
        channel.send(new Event("end").with("t", target.index).with("tests", 1).with("cpu_ms", 0));
    }

    private static List<String> read(DataInputStream stream) throws IOException {
        int count = stream.readInt();
        List<String> strings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[stream.readInt()];
            stream.readFully(bytes);
            strings.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return strings;
    }
}
