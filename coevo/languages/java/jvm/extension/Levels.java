package coevo.extension;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Raises compiler levels that this JDK does not support. Supported levels are left unchanged: since
 * level 8, overloads are resolved differently, so code of level 7 need not compile there.
 */
final class Levels {
    static final String COMPILER = "org.apache.maven.plugins:maven-compiler-plugin";

    private static final int RAISED = 8;
    private static final int LOWEST = lowest();
    private static final List<String> NAMES =
            Arrays.asList("source", "target", "release", "testSource", "testTarget", "testRelease");
    private static final Set<String> FATAL_WARNINGS = new HashSet<>(Arrays.asList("-Werror", "--fail-on-warnings"));

    private static int lowest() {
        String version = System.getProperty("java.specification.version");
        if (version.startsWith("1.")) {
            return 5;
        }
        int feature = Integer.parseInt(version);
        return feature < 12 ? 6 : feature < 20 ? 7 : 8;
    }

    private final MavenProject project;
    private boolean raised;

    Levels(MavenProject project) {
        this.project = project;
    }

    /** Raises the levels; returns whether a level was too low or missing. */
    boolean raise() {
        Properties properties = project.getProperties();
        for (String name : NAMES) {
            String key = "maven.compiler." + name;
            String value = raise(properties.getProperty(key));
            if (value != null) {
                properties.setProperty(key, value);
            }
        }
        Plugin compiler = project.getPlugin(COMPILER);
        if (compiler != null) {
            raise(compiler.getConfiguration());
            for (PluginExecution execution : compiler.getExecutions()) {
                raise(execution.getConfiguration());
            }
            fillIn(properties, compiler);
        }
        return raised;
    }

    /** Sets missing levels, since old plugins have too low a default and do not know `release`. */
    private void fillIn(Properties properties, Plugin compiler) {
        String release = properties.getProperty("maven.compiler.release", "");
        String known = release.isEmpty() ? literal(compiler, "release") : release;
        for (String name : Arrays.asList("source", "target")) {
            String key = "maven.compiler." + name;
            if (!properties.containsKey(key) && literal(compiler, name) == null) {
                properties.setProperty(key, known == null ? String.valueOf(RAISED) : known);
                raised |= known == null;
            }
        }
    }

    private static String literal(Plugin compiler, String name) {
        Xpp3Dom dom = (Xpp3Dom) compiler.getConfiguration();
        Xpp3Dom child = dom == null ? null : dom.getChild(name);
        return child == null || child.getValue() == null ? null : child.getValue().trim();
    }

    private void raise(Object configuration) {
        if (configuration == null) {
            return;
        }
        Xpp3Dom dom = (Xpp3Dom) configuration;
        for (String name : NAMES) {
            Xpp3Dom child = dom.getChild(name);
            String value = child == null ? null : raise(child.getValue());
            if (value != null) {
                child.setValue(value);
            }
        }
        tolerateWarnings(dom);
    }

    /**
     * Disables failing on warnings: newer compilers warn more, so such a failure has no meaning.
     */
    private static void tolerateWarnings(Xpp3Dom dom) {
        if (dom.getChild("failOnWarning") != null) {
            set(dom, "failOnWarning", "false");
        }
        Xpp3Dom arguments = dom.getChild("compilerArgs");
        for (int i = arguments == null ? -1 : arguments.getChildCount() - 1; i >= 0; i--) {
            String value = arguments.getChild(i).getValue();
            if (value != null && FATAL_WARNINGS.contains(value.trim())) {
                arguments.removeChild(i);
            }
        }
        Xpp3Dom argument = dom.getChild("compilerArgument");
        if (argument != null && FATAL_WARNINGS.contains(String.valueOf(argument.getValue()))) {
            argument.setValue("-nowarn");
        }
    }

    static void set(Xpp3Dom dom, String name, String value) {
        child(dom, name).setValue(value);
    }

    /** Returns the child of a name, which is added if there is none. */
    static Xpp3Dom child(Xpp3Dom dom, String name) {
        Xpp3Dom child = dom.getChild(name);
        if (child == null) {
            child = new Xpp3Dom(name);
            dom.addChild(child);
        }
        return child;
    }

    /** Returns the replacement of a level that is too low, else null. */
    private String raise(String level) {
        if (level == null || !level.trim().matches("(1\\.)?\\d+(\\.0)?")) {
            return null;
        }
        String plain = level.trim().replaceFirst("^1\\.(?=[1-9])", "").replaceFirst("\\.0$", "");
        if (Integer.parseInt(plain) >= LOWEST) {
            return null;
        }
        raised = true;
        return String.valueOf(RAISED);
    }
}
