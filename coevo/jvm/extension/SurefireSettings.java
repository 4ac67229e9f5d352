package coevo.extension;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** What the model says of how the tests are to be run, unresolved properties filled in or blank. */
final class SurefireSettings {
    private static final Pattern LATE = Pattern.compile("[$@]\\{([^}]*)\\}");

    private final MavenProject project;

    SurefireSettings(MavenProject project) {
        this.project = project;
    }

    Map<String, Object> toMap() {
        Xpp3Dom dom = configuration();
        Map<String, Object> map = new LinkedHashMap<>();
        String argLine = text(dom, "argLine");
        String property = project.getProperties().getProperty("argLine");
        map.put("argLine", argLine != null ? argLine : property == null ? null : fill(property));
        Map<String, String> properties = fromFile(text(dom, "systemPropertiesFile"));
        properties.putAll(properties(dom.getChild("systemProperties")));
        properties.putAll(pairs(dom.getChild("systemPropertyVariables")));
        properties.putAll(parameters(dom.getChild("properties")));
        map.put("properties", properties);
        map.put("enableAssertions", text(dom, "enableAssertions"));
        map.put("environmentVariables", pairs(dom.getChild("environmentVariables")));
        map.put("workingDirectory", text(dom, "workingDirectory"));
        map.put("additionalClasspathElements", list(dom.getChild("additionalClasspathElements")));
        map.put("classpathDependencyExcludes", list(dom.getChild("classpathDependencyExcludes")));
        return map;
    }

    private Xpp3Dom configuration() {
        Plugin plugin = project.getPlugin("org.apache.maven.plugins:maven-surefire-plugin");
        Object found = plugin == null ? null : plugin.getConfiguration();
        if (plugin != null) {
            for (PluginExecution execution : plugin.getExecutions()) {
                boolean standard = execution.getId().equals("default-test");
                if (standard && execution.getConfiguration() != null) {
                    found = execution.getConfiguration();
                }
            }
        }
        return found == null ? new Xpp3Dom("configuration") : (Xpp3Dom) found;
    }

    private String text(Xpp3Dom dom, String name) {
        Xpp3Dom child = dom.getChild(name);
        return child == null || child.getValue() == null ? null : fill(child.getValue()).trim();
    }

    private Map<String, String> pairs(Xpp3Dom dom) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (Xpp3Dom child : dom == null ? new Xpp3Dom[0] : dom.getChildren()) {
            pairs.put(child.getName(), child.getValue() == null ? "" : fill(child.getValue()));
        }
        return pairs;
    }

    private Map<String, String> fromFile(String name) {
        Map<String, String> pairs = new LinkedHashMap<>();
        if (name != null) {
            Properties properties = new Properties();
            try (InputStream stream = Files.newInputStream(project.getBasedir().toPath().resolve(name))) {
                properties.load(stream);
            } catch (IOException | IllegalArgumentException e) {
                return pairs; // surefire goes on without a file that is not there
            }
            for (String key : properties.stringPropertyNames()) {
                pairs.put(key, properties.getProperty(key));
            }
        }
        return pairs;
    }

    /** JUnit's configuration parameters, which it takes from system properties, too. */
    private Map<String, String> parameters(Xpp3Dom dom) {
        Map<String, String> pairs = new LinkedHashMap<>();
        String text = dom == null ? null : text(dom, "configurationParameters");
        for (String line : text == null ? new String[0] : text.split("\\R")) {
            int equals = line.indexOf('=');
            if (equals > 0) {
                pairs.put(line.substring(0, equals).trim(), line.substring(equals + 1).trim());
            }
        }
        return pairs;
    }

    /** Surefire's older form: property elements with a name and a value each. */
    private Map<String, String> properties(Xpp3Dom dom) {
        Map<String, String> pairs = new LinkedHashMap<>();
        for (Xpp3Dom child : dom == null ? new Xpp3Dom[0] : dom.getChildren()) {
            if (child.getChild("name") != null && child.getChild("value") != null) {
                String value = child.getChild("value").getValue();
                pairs.put(child.getChild("name").getValue(), value == null ? "" : fill(value));
            }
        }
        return pairs;
    }

    private List<String> list(Xpp3Dom dom) {
        List<String> list = new ArrayList<>();
        for (Xpp3Dom child : dom == null ? new Xpp3Dom[0] : dom.getChildren()) {
            for (String part : child.getValue() == null ? new String[0] : child.getValue().split(",")) {
                list.add(fill(part.trim()));
            }
        }
        return list;
    }

    private String fill(String text) {
        Matcher matcher = LATE.matcher(text);
        StringBuffer filled = new StringBuffer();
        while (matcher.find()) {
            String value = project.getProperties().getProperty(matcher.group(1), "");
            matcher.appendReplacement(filled, Matcher.quoteReplacement(value));
        }
        return matcher.appendTail(filled).toString();
    }
}
