package coevo.worker;

import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.HashSet;
import java.util.Set;

/**
 * Reloads the project's classes for each target, so that static initialisers, class fixtures and
 * objects that are created once run again. Libraries keep the state that earlier targets left.
 */
final class Anew {
    private final URL[] folders;
    private final ClassLoader libraries = Thread.currentThread().getContextClassLoader();
    private Set<Thread> before = new HashSet<>();

    private Anew(URL[] folders) {
        this.folders = folders;
    }

    /**
     * Uses the folders that follow the agent's jar; without folders, classes are loaded only once.
     */
    static Anew of(String[] arguments) throws IOException {
        URL[] folders = new URL[Math.max(arguments.length - 1, 0)];
        StringBuilder path = new StringBuilder(System.getProperty("java.class.path"));
        for (int i = 0; i < folders.length; i++) {
            // the JVM resolves links as well
            File folder = new File(arguments[i + 1]).getCanonicalFile();
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

    /**
     * Returns whether a thread of this target is still running, which would disturb the next
     * target.
     */
    boolean leavesThreads() {
        return folders.length > 0 && !before.containsAll(others());
    }

    /** Returns the threads that do not belong to the JDK. */
    private static Set<Thread> others() {
        Set<Thread> others = new HashSet<>();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            ThreadGroup group = thread.getThreadGroup(); // null if it has just ended
            if (group != null && group.getParent() != null) {
                others.add(thread);
            }
        }
        return others;
    }
}
