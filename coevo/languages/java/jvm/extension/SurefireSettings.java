package coevo.extension;

import java.io.IOException;
import java.io.InputStream;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.codehaus.plexus.util.xml.Xpp3DomBuilder;
import org.codehaus.plexus.util.xml.pull.XmlPullParserException;

/** The model's settings for running tests, with unresolved properties filled in or blank. */
final class SurefireSettings {
    private static final Pattern LATE = Pattern.compile("[$@]\\{([^}]*)\\}");
    private static final String DEFAULT_EXECUTION = "default-test";

    private final MavenProject project;
    private final Properties user;

    SurefireSettings(MavenProject project) {
        this.project = project;
        this.user = project.getProjectBuildingRequest().getUserProperties();
    }

    Map<String, Object> toMap() {
        Xpp3Dom dom = configuration();
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("argLine", text(dom, "argLine", "argLine"));
        map.put("suiteParameters", suiteParameters(dom));
        map.put("properties", effectiveProperties(dom));
        map.put("environmentVariables", pairs(dom.getChild("environmentVariables")));
        map.put("workingDirectory", text(dom, "workingDirectory", "surefire.workdir"));
        map.put("enableAssertions", text(dom, "enableAssertions", "enableAssertions"));
        map.put(
                "additionalClasspathElements",
                list(dom, "additionalClasspathElements", "maven.test.additionalClasspath"));
        map.put(
                "classpathDependencyExcludes",
                list(dom, "classpathDependencyExcludes", "maven.test.dependency.excludes"));
        map.put(
                "classpathDependencyScopeExclude",
                text(dom, "classpathDependencyScopeExclude", null));
        return map;
    }

    /**
     * Collects properties in surefire's own order; parameters of the JUnit Platform are read from
     * them, too.
     */
    private Map<String, String> effectiveProperties(Xpp3Dom dom) {
        String file = text(dom, "systemPropertiesFile", "surefire.systemPropertiesFile");
        Map<String, String> all = configurationParameters(dom.getChild("properties"));
        all.putAll(properties(dom.getChild("systemProperties")));
        all.putAll(file == null ? new TreeMap<>() : read(file));
        all.putAll(pairs(dom.getChild("systemPropertyVariables")));
        all.putAll(userProperties());
        return all;
    }

    /**
     * Returns the parameters in files of TestNG's suites that have one value in all of them. TestNG
     * looks for a parameter among the system properties if no suite gives it.
     */
    private Map<String, String> suiteParameters(Xpp3Dom dom) {
        Map<String, String> found = new TreeMap<>();
        Set<String> ambiguous = new HashSet<>();
        for (String name : list(dom, "suiteXmlFiles", "surefire.suiteXmlFiles")) {
            Path file = project.getBasedir().toPath().resolve(name);
            try (InputStream stream = Files.newInputStream(file)) {
                collect(Xpp3DomBuilder.build(stream, "UTF-8"), found, ambiguous);
            } catch (IOException | XmlPullParserException unreadable) {
                continue; // surefire would run no test of it
            }
        }
        found.keySet().removeAll(ambiguous);
        return found;
    }

    private static void collect(Xpp3Dom at, Map<String, String> found, Set<String> ambiguous) {
        for (Xpp3Dom child : at.getChildren()) {
            String name = child.getAttribute("name");
            String value = child.getAttribute("value");
            if (child.getName().equals("parameter") && name != null && value != null) {
                String other = found.put(name, value);
                if (other != null && !other.equals(value)) {
                    ambiguous.add(name);
                }
            }
            collect(child, found, ambiguous);
        }
    }

    /**
     * Returns the configuration of the standard execution, or of the first other one if the project
     * disables the standard one.
     */
    private Xpp3Dom configuration() {
        Plugin plugin = project.getPlugin("org.apache.maven.plugins:maven-surefire-plugin");
        if (plugin == null) {
            return new Xpp3Dom("configuration");
        }
        Xpp3Dom standard = orEmpty(plugin.getConfiguration());
        Xpp3Dom other = null;
        boolean aside = false;
        for (PluginExecution execution : plugin.getExecutions()) {
            Xpp3Dom found = orEmpty(execution.getConfiguration());
            boolean idle = "none".equals(execution.getPhase()) || skips(found);
            if (execution.getId().equals(DEFAULT_EXECUTION)) {
                standard = execution.getConfiguration() == null ? standard : found;
                aside = idle;
            } else if (other == null && !idle && execution.getGoals().contains("test")) {
                other = found;
            }
        }
        return aside && other != null ? other : standard;
    }

    private static Xpp3Dom orEmpty(Object configuration) {
        return configuration == null ? new Xpp3Dom("configuration") : (Xpp3Dom) configuration;
    }

    private boolean skips(Xpp3Dom dom) {
        return "true".equals(text(dom, "skip", null)) || "true".equals(text(dom, "skipTests", null));
    }

    /** Returns a setting, or the value of its property if the configuration does not contain it. */
    private String text(Xpp3Dom dom, String name, String property) {
        Xpp3Dom child = dom.getChild(name);
        String text = child == null ? null : child.getValue();
        if (text == null && property != null) {
            text = property(property);
        }
        return text == null ? null : fill(text).trim();
    }

    private Map<String, String> pairs(Xpp3Dom dom) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (Xpp3Dom child : children(dom)) {
            pairs.put(child.getName(), child.getValue() == null ? "" : fill(child.getValue()));
        }
        return pairs;
    }

    /**
     * Reads the older form: elements with a name and a value each, mixed with elements that have
     * the property's name.
     */
    private Map<String, String> properties(Xpp3Dom dom) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (Xpp3Dom child : children(dom)) {
            Xpp3Dom name = child.getChild("name");
            Xpp3Dom named = name == null ? child : child.getChild("value");
            String key = name == null ? child.getName() : name.getValue();
            String value = named == null ? null : named.getValue();
            pairs.put(key, value == null ? "" : fill(value));
        }
        return pairs;
    }

    private Map<String, String> read(String name) {
        Path file = project.getBasedir().toPath().resolve(name);
        Properties read = new Properties();
        try (InputStream stream = Files.newInputStream(file)) {
            read.load(stream);
        } catch (IOException | IllegalArgumentException unreadable) {
            return new TreeMap<>(); // surefire would warn and continue
        }
        return strings(read);
    }

    /**
     * Returns the properties in the project's own Maven options, which are passed to tests as well.
     */
    private Map<String, String> userProperties() {
        Map<String, String> found = strings(user);
        found.keySet().removeIf(name -> name.matches("(coevo|maven|style)\\..*"));
        return found;
    }

    /**
     * Returns parameters of the JUnit Platform, which the plugin accepts as text of a properties
     * file.
     */
    private Map<String, String> configurationParameters(Xpp3Dom dom) {
        Properties read = new Properties();
        try {
            read.load(new StringReader(properties(dom).getOrDefault("configurationParameters", "")));
        } catch (IOException | IllegalArgumentException malformed) {
            return new TreeMap<>();
        }
        return strings(read);
    }

    private static Map<String, String> strings(Properties properties) {
        Map<String, String> found = new TreeMap<>();
        for (String name : properties.stringPropertyNames()) {
            found.put(name, properties.getProperty(name));
        }
        return found;
    }

    private List<String> list(Xpp3Dom dom, String name, String property) {
        List<String> list = new ArrayList<>();
        Xpp3Dom child = dom.getChild(name);
        if (child == null || child.getChildCount() == 0) {
            split(text(dom, name, property), list);
        }
        for (Xpp3Dom one : children(child)) {
            split(one.getValue() == null ? null : fill(one.getValue()), list);
        }
        return list;
    }

    private static void split(String text, List<String> list) {
        for (String part : text == null ? new String[0] : text.split(",")) {
            if (!part.trim().isEmpty()) {
                list.add(part.trim());
            }
        }
    }

    private static Xpp3Dom[] children(Xpp3Dom dom) {
        return dom == null ? new Xpp3Dom[0] : dom.getChildren();
    }

    private String property(String name) {
        if (name.equals("surefire.forkNumber") || name.equals("surefire.threadNumber")) {
            return "1";
        }
        if (name.equals("settings.localRepository") || name.equals("localRepository")) {
            return project.getProjectBuildingRequest().getLocalRepository().getBasedir();
        }
        return user.getProperty(name, project.getProperties().getProperty(name));
    }

    /**
     * Fills in properties repeatedly, since values may contain others, such as {@code @{argLine}}.
     */
    private String fill(String text) {
        String filled = fillOnce(text);
        for (int depth = 0; depth < 5 && LATE.matcher(filled).find(); depth++) {
            filled = fillOnce(filled);
        }
        return filled;
    }

    private String fillOnce(String text) {
        Matcher matcher = LATE.matcher(text);
        StringBuffer filled = new StringBuffer();
        while (matcher.find()) {
            String value = property(matcher.group(1));
            matcher.appendReplacement(filled, Matcher.quoteReplacement(value == null ? "" : value));
        }
        return matcher.appendTail(filled).toString();
    }
}
