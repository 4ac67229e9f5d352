package coevo.worker;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.Set;

/**
 * The project's classes loaded anew for each target, so that static initialisers, fixtures of
 * classes and whatever is made once happen again. Libraries stay as the first target left them.
 */
final class Anew {
    private final URL[] folders;
    private final ClassLoader libraries = Thread.currentThread().getContextClassLoader();
    private Set<Thread> before = new HashSet<>();

    private Anew(URL[] folders) {
        this.folders = folders;
    }

    /** For folders behind the agent's jar; without any, classes are loaded once, as ever. */
    static Anew of(String[] arguments) throws IOException {
        URL[] folders = new URL[Math.max(arguments.length - 1, 0)];
        StringBuilder path = new StringBuilder(System.getProperty("java.class.path"));
        for (int i = 0; i < folders.length; i++) {
            File folder = new File(arguments[i + 1]).getCanonicalFile(); // as the JVM itself does
            folders[i] = folder.toURI().toURL();
            path.append(File.pathSeparatorChar).append(arguments[i + 1]);
        }
        if (folders.length > 0) {
            System.setProperty("java.class.path", path.toString()); // for JVMs that tests start
        }
        return new Anew(folders);
    }

    void begin() {
        if (folders.length > 0) {
            before = others();
            Thread.currentThread().setContextClassLoader(new URLClassLoader(folders, libraries));
        }
    }

    /** Whether a thread of this target lives on, which would go on under the next one. */
    boolean leavesThreads() {
        return folders.length > 0 && !before.containsAll(others());
    }

    /** Threads but those that belong to the JDK. */
    private static Set<Thread> others() {
        Set<Thread> others = new HashSet<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            ThreadGroup group = thread.getThreadGroup(); // null where it has just ended
            if (group != null && group.getParent() != null) {
                others.add(thread);
            }
        }
        return others;
    }
}
