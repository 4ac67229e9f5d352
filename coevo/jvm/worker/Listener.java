package coevo.worker;

import java.util.Optional;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;

/** Turns what the JUnit Platform reports into test events of one target. */
final class Listener implements TestExecutionListener {
    private final Target target;
    private final Channel channel;
    private boolean byName;
    private boolean placeholders;
    private int events;

    Listener(Target target, Channel channel) {
        this.target = target;
        this.channel = channel;
    }

    /** This listener for a selected method: whatever runs concerns the target. */
    Listener forMethod() {
        byName = false;
        return this;
    }

    /**
     * This listener for a whole class, of which only what bears the method's name counts; a test
     * that says the class cannot be run counts too if the class has the method.
     */
    Listener forClass(boolean hasMethod) {
        byName = true;
        placeholders = hasMethod;
        return this;
    }

    synchronized int events() {
        return events;
    }

    /** Whether a class's test can be one of the target's. */
    FilterResult admits(TestDescriptor test) {
        return FilterResult.includedIf(
                matches(test.getSource(), test.isTest(), test.getDisplayName()));
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (concerns(test)) {
            send(test(test).with("outcome", "skipped").with("message", Failure.shorten(reason)));
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (!concerns(test) || passed && !test.isTest()) {
            return;
        }
        if (passed) {
            send(test(test).with("outcome", "pass"));
            return;
        }
        Throwable thrown = result.getThrowable().orElse(null);
        if (NoTests.says(test, thrown)) {
            return;
        }
        boolean aborted = result.getStatus() == TestExecutionResult.Status.ABORTED;
        send(Failure.describe(test(test), thrown, aborted));
    }

    /** An event for what happened outside of any test. */
    void report(String id, String display, Throwable thrown) {
        Event event = new Event("test").with("t", target.index);
        send(Failure.describe(event.with("id", id).with("display", display), thrown, false));
    }

    private boolean concerns(TestIdentifier test) {
        return !byName || matches(test.getSource(), test.isTest(), test.getDisplayName());
    }

    private boolean matches(Optional<TestSource> source, boolean isTest, String display) {
        if (source.isPresent() && source.get() instanceof MethodSource) {
            return names(((MethodSource) source.get()).getMethodName());
        }
        return !isTest || names(display);
    }

    private boolean names(String name) {
        String base = name.split("[\\[(]", 2)[0].trim();
        return base.equals(target.method) || placeholders && NoTests.isPlaceholder(base);
    }

    private Event test(TestIdentifier test) {
        return new Event("test")
                .with("t", target.index)
                .with("id", test.getUniqueId())
                .with("display", test.getDisplayName());
    }

    private synchronized void send(Event event) {
        events++;
        channel.send(event);
    }
}
