package coevo.worker;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Prints the current time, then how many milliseconds three ways to wait for {@code WAIT} took,
 * measured by the clock that is never set. This shows whether a JVM whose clock is set still works.
 */
final class ClockProbe {
    private static final long WAIT = 200;

    private ClockProbe() {}

    public static void main(String[] arguments) throws InterruptedException {
        System.out.println(System.currentTimeMillis());
        Object nobody = new Object();
        long start = System.nanoTime();
        synchronized (nobody) {
            nobody.wait(WAIT);
        }
        start = report(start);
        Thread.sleep(WAIT);
        start = report(start);
        new CountDownLatch(1).await(WAIT, TimeUnit.MILLISECONDS);
        report(start);
    }

    private static long report(long start) {
        long now = System.nanoTime();
        System.out.println(TimeUnit.NANOSECONDS.toMillis(now - start));
        return now;
    }
}
