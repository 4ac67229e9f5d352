package coevo.umpire;

import java.util.HashSet;
import java.util.Set;
import org.junit.runner.Description;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Sends the outcomes of JUnit 4; surefire's settings name this listener. */
@RunListener.ThreadSafe
public final class JUnit4Listener extends RunListener {
    private final Set<Description> decided = new HashSet<>();

    public JUnit4Listener() {
        Channel.sendStart();
    }

    @Override
    public synchronized void testStarted(Description test) {
        decided.remove(test); // it may run again
    }

    @Override
    public synchronized void testFailure(Failure failure) {
        send(failure.getDescription(), "fail");
    }

    @Override
    public synchronized void testAssumptionFailure(Failure failure) {
        send(failure.getDescription(), "skipped");
    }

    @Override
    public synchronized void testIgnored(Description test) {
        send(test, "skipped");
    }

    @Override
    public synchronized void testFinished(Description test) {
        if (!decided.contains(test)) {
            send(test, "pass");
        }
    }

    private void send(Description test, String outcome) {
        decided.add(test);
        String method = test.getMethodName();
        String name = method == null ? null : Names.method(method);
        Channel.send(test.getClassName(), name, null, outcome);
    }
}
