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
 * Runs a list of test methods, one JUnit Platform execution each, and writes what happened to file
 * descriptor 3, a line per event. Everything that guards the channel lives in local variables, out
 * of the tests' easy reach.
 *
 * <p>Request: nonce, number of options, that many {@code key=value} (configuration parameters of
 * the JUnit Platform), then for each target its index, class names (comma separated), method and
 * erased simple parameter types (comma separated).
 *
 * <p>With the jar of the JaCoCo agent that this JVM runs with as its argument, it sends what each
 * target executed, too. Folders behind that are loaded anew for each target; who leaves threads
 * behind is then the last one.
 */
public final class Worker {
    private Worker() {}

    public static void main(String[] arguments) throws IOException {
        // Not System.in, in whose buffer the nonce would stay.
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
            } catch (LinkageError unfit) { // a platform that this JVM or this worker cannot use
                report(target, unfit, channel);
            }
            if (anew.leavesThreads()) {
                break;
            }
        }
        channel.send(new Event("done"));
        Runtime.getRuntime().halt(0); // threads that tests left behind must not keep the JVM
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
