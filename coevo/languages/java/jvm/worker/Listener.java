package coevo.worker;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.platform.engine.FilterResult;
import org.junit.platform.engine.TestDescriptor;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Turns reports of the JUnit Platform into the test events of one target: the results of its method
 * and everything below it, and failures above it. Other methods that run (those it depends on, or a
 * whole class whose runner supports no filter) are ignored. Events are kept until the target has
 * ended. Tests can get access to this object, so it does not know the channel.
 */
final class Listener implements TestExecutionListener {
    private final Target target;
    private final List<Event> events = new ArrayList<>();
    private int passed;
    private String nested;
    private String types;
    private boolean byName;
    private TestPlan plan;

    Listener(Target target) {
        this.target = target;
    }

    /**
     * Prepares this listener for a method of a class.
     *
     * <p>@param byName whether the whole class runs, so that a test without a source must have the
     * method's name
     */
    Listener on(Class<?> type, Method method, boolean byName) {
        this.nested = type.getName() + '$';
        this.types = MethodSource.from(type, method).getMethodParameterTypes();
        this.byName = byName;
        return this;
    }

    synchronized List<Event> events() {
        return new ArrayList<>(events);
    }

    /** Returns whether there are events and all of them are passing tests. */
    synchronized boolean allPassed() {
        return passed > 0 && passed == events.size();
    }

    /** Returns whether a test of a class may belong to the target. */
    FilterResult admits(TestDescriptor test) {
        Optional<TestSource> source = test.getSource();
        return FilterResult.includedIf(
                isMethod(source)
                        ? names((MethodSource) source.get())
                        : !test.isTest() || names(test.getDisplayName()));
    }

    /** Returns whether a test may belong to the target and is declared in or below a class. */
    FilterResult admitsInside(TestDescriptor test, String type) {
        Optional<TestSource> source = test.getSource();
        if (!isMethod(source)) {
            return FilterResult.includedIf(!test.isTest());
        }
        MethodSource method = (MethodSource) source.get();
        return FilterResult.includedIf(method.getClassName().equals(type) && names(method));
    }

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        this.plan = plan;
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        if (concerns(test)) {
            add(test(test).with("outcome", "skipped").with("message", Failure.shorten(reason)));
        }
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        boolean passed = result.getStatus() == TestExecutionResult.Status.SUCCESSFUL;
        if (passed && !test.isTest() || !concerns(test)) {
            return;
        }
        if (passed) {
            addPassed(test(test).with("outcome", "pass"));
            return;
        }
        Throwable thrown = result.getThrowable().orElse(null);
        if (NoTests.says(test, thrown)) {
            return;
        }
        boolean aborted = result.getStatus() == TestExecutionResult.Status.ABORTED;
        add(Failure.describe(test(test), thrown, aborted));
    }

    /** Adds an event for a failure outside of any test. */
    void report(String id, String display, Throwable thrown) {
        Event event = new Event("test").with("t", target.index);
        add(Failure.describe(event.with("id", id).with("display", display), thrown, false));
    }

    private boolean concerns(TestIdentifier test) {
        boolean others = false;
        Optional<TestIdentifier> at = Optional.of(test);
        for (; at.isPresent(); at = plan.getParent(at.get())) {
            Optional<TestSource> source = at.get().getSource();
            if (isMethod(source)) {
                if (names((MethodSource) source.get())) {
                    return true;
                }
                others = true;
            }
        }
        return !others && (!test.isTest() || !byName || names(test.getDisplayName()));
    }

    private static boolean isMethod(Optional<TestSource> source) {
        return source.isPresent() && source.get() instanceof MethodSource;
    }

    /**
     * Returns whether a source is the method of the target. Engines omit unknown parameters. The
     * methods of a nested class are its own.
     */
    private boolean names(MethodSource source) {
        String of = source.getMethodParameterTypes();
        return names(source.getMethodName())
                && (of == null || of.equals(types))
                && !source.getClassName().startsWith(nested);
    }

    private boolean names(String name) {
        String base = name.split("[\\[(]", 2)[0].trim();
        return base.equals(target.method) || NoTests.isPlaceholder(base);
    }

    private Event test(TestIdentifier test) {
        return new Event("test")
                .with("t", target.index)
                .with("id", test.getUniqueId())
                .with("display", test.getDisplayName());
    }

    private synchronized void addPassed(Event event) {
        passed++;
        add(event);
    }

    private synchronized void add(Event event) {
        events.add(event);
    }
}
