package coevo.worker;

import org.junit.platform.launcher.TestIdentifier;

/** JUnit 4 and 3 say by a test of their own making that there is nothing to run. */
final class NoTests {
    private NoTests() {}

    /** Whether this is the failure that stands for "no test matches". */
    static boolean says(TestIdentifier test, Throwable thrown) {
        String message = thrown == null ? null : Failure.message(thrown);
        return message != null
                && message.startsWith("No tests found")
                && (test.getDisplayName().startsWith("initializationError")
                        || test.getDisplayName().startsWith("warning"));
    }

    /** Names under which a runner reports that a class cannot be run. */
    static boolean isPlaceholder(String name) {
        return name.equals("initializationError")
                || name.equals("classMethod")
                || name.equals("warning");
    }
}
