package coevo.umpire;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.TestExecutionResult.Status;
import org.junit.platform.engine.TestSource;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/** Sends the outcomes of the JUnit Platform, which finds this listener as a service. */
public final class PlatformListener implements TestExecutionListener {
    private TestPlan plan;

    @Override
    public void testPlanExecutionStarted(TestPlan started) {
        plan = started;
        Channel.sendStart();
    }

    @Override
    public void executionSkipped(TestIdentifier test, String reason) {
        send(test, "skipped");
    }

    @Override
    public void executionFinished(TestIdentifier test, TestExecutionResult result) {
        if (result.getStatus() == Status.FAILED) {
            send(test, "fail");
        } else if (result.getStatus() == Status.ABORTED) {
            send(test, "skipped");
        } else if (test.isTest()) {
            send(test, "pass");
        }
    }

    /**
     * Sends an outcome under the nearest method around a test, such as that of a dynamic test;
     * without one, under the nearest class.
     */
    private void send(TestIdentifier test, String outcome) {
        String type = null;
        Optional<TestIdentifier> at = Optional.of(test);
        for (; at.isPresent(); at = plan.getParent(at.get())) {
            TestSource source = at.get().getSource().orElse(null);
            if (source instanceof MethodSource) {
                MethodSource method = (MethodSource) source;
                Channel.send(
                        method.getClassName(),
                        Names.method(method.getMethodName()),
                        simpleNames(method.getMethodParameterTypes()),
                        outcome);
                return;
            }
            if (type == null && source instanceof ClassSource) {
                type = ((ClassSource) source).getClassName();
            }
        }
        if (type != null) {
            boolean named = test.isTest() && !type.equals(test.getDisplayName());
            Channel.send(type, named ? Names.method(test.getDisplayName()) : null, null, outcome);
        }
    }

    /** Returns the simple names of types as a source lists them; null if it lists none. */
    private static String simpleNames(String types) {
        if (types == null || types.isEmpty()) {
            return types == null ? null : "";
        }
        List<String> names = new ArrayList<>();
        for (String type : types.split(",")) {
            names.add(Names.type(type.trim()));
        }
        return String.join(",", names);
    }
}
