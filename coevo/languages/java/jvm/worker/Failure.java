package coevo.worker;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;

/** The description of a throwable: outcome, types, first frame of the project, message. */
final class Failure {
    /**
     * Prefix of the error that the stubbing compiler throws in place of code that does not compile.
     */
    static final String STUB = "coevo.stub:";

    private static final int MESSAGE = 300;

    private static final List<String> ASSERTIONS =
            Arrays.asList(
                    "java.lang.AssertionError",
                    "junit.framework.AssertionFailedError",
                    "org.opentest4j.AssertionFailedError");

    private static final List<String> ASSUMPTIONS =
            Arrays.asList(
                    "org.opentest4j.TestAbortedException",
                    "org.junit.AssumptionViolatedException",
                    "org.junit.internal.AssumptionViolatedException",
                    "org.testng.SkipException");

    private static final List<String> FOREIGN =
            Arrays.asList(
                    "java.",
                    "javax.",
                    "jdk.",
                    "sun.",
                    "com.sun.",
                    "org.junit.",
                    "junit.",
                    "org.hamcrest.",
                    "org.assertj.",
                    "org.opentest4j.",
                    "org.mockito.",
                    "org.powermock.",
                    "org.easymock.",
                    "net.bytebuddy.",
                    "org.testng.",
                    "net.jqwik.",
                    "com.google.common.truth.",
                    "coevo.worker.");

    private Failure() {}

    /**
     * Adds a throwable to a test's event. If methods of the project's own exceptions throw, this
     * must not reach JUnit, which would then lose the failure.
     */
    static Event describe(Event event, Throwable thrown, boolean aborted) {
        if (thrown == null) {
            return event.with("outcome", aborted ? "skipped" : "error");
        }
        try {
            return described(event.copy(), thrown, aborted);
        } catch (RuntimeException | Error broken) {
            return event.with("outcome", aborted ? "skipped" : "error")
                    .with("types", Collections.singletonList(thrown.getClass().getName()));
        }
    }

    private static Event described(Event event, Throwable thrown, boolean aborted) {
        List<Throwable> causes = causes(thrown);
        List<String> types = new ArrayList<>();
        for (Throwable cause : causes) {
            types.add(cause.getClass().getName());
        }
        String stub = stub(thrown, newSet());
        Throwable root = causes.get(causes.size() - 1);
        return event.with("outcome", stub != null ? "compile_error" : outcome(thrown, aborted))
                .with("types", types)
                .with("frame", frame(causes))
                .with("message", stub != null ? stub : shorten(message(root)));
    }

    static String shorten(String text) {
        return text == null || text.length() <= MESSAGE ? text : text.substring(0, MESSAGE);
    }

    private static String outcome(Throwable thrown, boolean aborted) {
        if (aborted || is(thrown, ASSUMPTIONS)) {
            return "skipped";
        }
        return is(thrown, ASSERTIONS) ? "fail" : "error";
    }

    private static boolean is(Throwable thrown, List<String> names) {
        for (Class<?> type = thrown.getClass(); type != null; type = type.getSuperclass()) {
            if (names.contains(type.getName())) {
                return true;
            }
        }
        return false;
    }

    private static List<Throwable> causes(Throwable thrown) {
        List<Throwable> causes = new ArrayList<>();
        Set<Throwable> seen = newSet();
        for (Throwable at = thrown; at != null && seen.add(at); at = at.getCause()) {
            causes.add(at);
        }
        return causes;
    }

    /** Returns the root cause's first frame in the project, without counters in generated names. */
    private static String frame(List<Throwable> causes) {
        for (int i = causes.size() - 1; i >= 0; i--) {
            for (StackTraceElement at : causes.get(i).getStackTrace()) {
                if (isOurs(at.getClassName())) {
                    return at.getClassName() + '.' + at.getMethodName().replaceAll("\\$\\d+$", "");
                }
            }
        }
        return null;
    }

    private static boolean isOurs(String name) {
        for (String prefix : FOREIGN) {
            if (name.startsWith(prefix)) {
                return false;
            }
        }
        return !name.contains("$$");
    }

    /** Returns the message of a stub anywhere below a throwable, or null. */
    private static String stub(Throwable thrown, Set<Throwable> seen) {
        if (thrown == null || !seen.add(thrown)) {
            return null;
        }
        String message = message(thrown);
        if (thrown.getClass() == Error.class && message != null && message.startsWith(STUB)) {
            return message;
        }
        List<Throwable> below = new ArrayList<>(Arrays.asList(thrown.getSuppressed()));
        below.add(thrown.getCause());
        below.addAll(failures(thrown));
        for (Throwable inner : below) {
            String found = stub(inner, seen);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Returns the failures inside a throwable that stands for several. */
    private static List<Throwable> failures(Throwable thrown) {
        Object value;
        try {
            value = thrown.getClass().getMethod("getFailures").invoke(thrown);
        } catch (ReflectiveOperationException | RuntimeException none) {
            return Collections.emptyList();
        }
        List<Throwable> failures = new ArrayList<>();
        if (value instanceof Collection) {
            for (Object one : (Collection<?>) value) {
                if (one instanceof Throwable) {
                    failures.add((Throwable) one);
                }
            }
        }
        return failures;
    }

    /** Returns the message of a throwable, or the class name of what its getMessage threw. */
    static String message(Throwable thrown) {
        try {
            return thrown.getMessage();
        } catch (RuntimeException | Error broken) { // the project's own exceptions may throw
            return broken.getClass().getName();
        }
    }

    private static Set<Throwable> newSet() {
        return Collections.newSetFromMap(new IdentityHashMap<>());
    }
}
