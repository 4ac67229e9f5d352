package coevo.worker;

import org.junit.platform.launcher.TestIdentifier;

/** Recognises the artificial tests by which JUnit 3 and 4 report that there is nothing to run. */
final class NoTests {
    private NoTests() {}

    /** Returns whether this failure means "no test matches". */
    static boolean says(TestIdentifier test, Throwable thrown) {
        String message = thrown == null ? null : Failure.message(thrown);
        return message != null
                && message.startsWith("No tests found")
                && (test.getDisplayName().startsWith("initializationError")
                        || test.getDisplayName().startsWith("warning"));
    }

    /** Returns whether a runner uses this name to report that a class cannot be run. */
    static boolean isPlaceholder(String name) {
        return name.equals("initializationError")
                || name.equals("classMethod")
                || name.equals("warning");
    }
}
