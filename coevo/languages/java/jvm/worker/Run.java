package coevo.worker;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.platform.commons.JUnitException;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.discovery.DiscoverySelectors;
import org.junit.platform.launcher.PostDiscoveryFilter;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/** One target's execution, between its begin event and its end event. */
final class Run {
    private final Target target;
    private final Map<String, String> parameters;
    private final Listener listener;
    private final Channel channel;
    private final Coverage coverage;

    Run(Target target, Map<String, String> parameters, Channel channel, Coverage coverage) {
        this.target = target;
        this.parameters = parameters;
        this.channel = channel;
        this.coverage = coverage;
        this.listener = new Listener(target);
    }

    /** Returns whether a target has tests and all of them pass in all classes; sends nothing. */
    static boolean passes(Target target) {
        Run run = new Run(target, Collections.emptyMap(), null, null);
        run.executeAll();
        return run.listener.allPassed();
    }

    void execute() throws IOException {
        long before = cpuMillis();
        executeAll();
        List<Event> events = listener.events();
        for (Event event : events) {
            channel.send(event);
        }
        coverage.send(target.index, channel);
        channel.send(
                new Event("end")
                        .with("t", target.index)
                        .with("tests", events.size())
                        .with("cpu_ms", cpuMillis() - before));
    }

    private void executeAll() {
        for (String name : target.classes) {
            try {
                execute(name);
            } catch (Throwable thrown) { // errors caused by the test class belong to its result
                listener.report("class:" + name, name, thrown);
            }
        }
    }

    private void execute(String name) {
        String own = name.substring(name.indexOf(Target.VIA) + 1);
        Class<?> type;
        Class<?> by;
        try {
            ClassLoader loader = Thread.currentThread().getContextClassLoader();
            type = Class.forName(own, false, loader);
            by = Class.forName(name.split(Target.VIA, 2)[0], false, loader);
        } catch (ClassNotFoundException absent) {
            return;
        }
        Method method = target.find(type);
        if (method == null) {
            return;
        }
        if (by != type) {
            // no selector of older platforms names a nested class by a subclass of its outer one
            PostDiscoveryFilter filter = test -> listener.admitsInside(test, own);
            launch(request(DiscoverySelectors.selectClass(by)).filters(filter), type, method, true);
            return;
        }
        int before = listener.events().size();
        DiscoverySelector whole = DiscoverySelectors.selectClass(type);
        try {
            launch(request(DiscoverySelectors.selectMethod(type, method)), type, method, false);
        } catch (JUnitException failed) {
            if (!isOfTestNG(failed)) {
                throw failed;
            }
            // it depends on methods that were not selected
            launch(request(whole), type, method, true);
        }
        if (listener.events().size() == before) { // runners that name their tests themselves
            PostDiscoveryFilter filter = listener::admits;
            launch(request(whole).filters(filter), type, method, true);
        }
    }

    private static boolean isOfTestNG(JUnitException failed) {
        Throwable cause = failed.getCause();
        return cause != null && cause.getClass().getName().equals("org.testng.TestNGException");
    }

    private LauncherDiscoveryRequestBuilder request(DiscoverySelector selector) {
        return LauncherDiscoveryRequestBuilder.request()
                .selectors(selector)
                .configurationParameters(parameters);
    }

    private void launch(
            LauncherDiscoveryRequestBuilder request, Class<?> type, Method method, boolean byName) {
        LauncherFactory.create().execute(request.build(), listener.on(type, method, byName));
    }

    /** Returns the user and system time of this process; 0 without /proc. */
    private static long cpuMillis() {
        try {
            byte[] bytes = Files.readAllBytes(Paths.get("/proc/self/stat"));
            String stat = new String(bytes, StandardCharsets.ISO_8859_1);
            String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
            return (Long.parseLong(fields[11]) + Long.parseLong(fields[12])) * 10;
        } catch (IOException e) {
            return 0;
        }
    }
}
