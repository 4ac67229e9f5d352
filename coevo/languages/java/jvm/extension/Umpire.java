package coevo.extension;

import com.google.gson.Gson;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import org.apache.maven.artifact.Artifact;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * A run of one module's tests by the project's own command: adds coevo's listeners to surefire, and
 * sends how the module ended to the pipe of the listeners.
 */
final class Umpire {
    private static final String SUREFIRE = "maven-surefire-plugin";
    private static final String MORE = "additionalClasspathElements";
    private static final String MORE_PROPERTY = "maven.test.additionalClasspath";

    private final Properties user;
    private final File module;

    private Umpire(Properties user, File module) {
        this.user = user;
        this.module = module;
    }

    /** Returns the run that Maven's user properties describe; null for a build without tests. */
    static Umpire of(Properties user) {
        String module = user.getProperty("coevo.umpire.module");
        return module == null ? null : new Umpire(user, new File(module));
    }

    boolean concerns(MavenProject project) {
        return real(project.getBasedir()).equals(real(module));
    }

    private static Path real(File folder) {
        try {
            return folder.toPath().toRealPath();
        } catch (IOException absent) {
            return folder.toPath();
        }
    }

    /** Sets up a goal that is about to run: surefire runs in the module alone. */
    void prepare(MojoExecution mojo, MavenProject project) {
        if (!mojo.getArtifactId().equals(SUREFIRE) || !mojo.getGoal().equals("test")) {
            return;
        }
        Xpp3Dom dom = mojo.getConfiguration();
        if (dom == null) {
            dom = new Xpp3Dom("configuration");
            mojo.setConfiguration(dom);
        }
        if (!concerns(project)) {
            Levels.set(dom, "skipTests", "true");
            return;
        }
        addPlace(dom, project, user.getProperty("coevo.umpire.jar"));
        if (!usesTestNg(project)) {
            addListener(dom);
        }
    }

    private void addPlace(Xpp3Dom dom, MavenProject project, String jar) {
        Xpp3Dom more = Levels.child(dom, MORE);
        if (more.getChildCount() == 0) {
            // an expression, which children replace
            String property = project.getProperties().getProperty(MORE_PROPERTY, "");
            String known = user.getProperty(MORE_PROPERTY, property);
            more.setValue(null);
            for (String place : known.split(",")) {
                if (!place.trim().isEmpty()) {
                    add(more, place.trim());
                }
            }
        }
        add(more, jar);
    }

    private static void add(Xpp3Dom parent, String value) {
        Xpp3Dom place = new Xpp3Dom("additionalClasspathElement");
        place.setValue(value);
        parent.addChild(place);
    }

    /** Adds the listener for JUnit 4, which has no services; other runners ignore the property. */
    private static void addListener(Xpp3Dom dom) {
        Xpp3Dom properties = Levels.child(dom, "properties");
        Xpp3Dom value = null;
        for (Xpp3Dom property : properties.getChildren()) {
            Xpp3Dom name = property.getChild("name");
            if (name == null && property.getName().equals("listener")) {
                value = property;
            } else if (name != null && "listener".equals(name.getValue())) {
                value = property.getChild("value");
            }
        }
        if (value == null) {
            Xpp3Dom property = new Xpp3Dom("property");
            Xpp3Dom name = new Xpp3Dom("name");
            name.setValue("listener");
            value = new Xpp3Dom("value");
            property.addChild(name);
            property.addChild(value);
            properties.addChild(property);
        }
        String others = value.getValue() == null ? "" : value.getValue() + ",";
        value.setValue(others + "coevo.umpire.JUnit4Listener");
    }

    /** Returns whether surefire runs the tests by TestNG, which takes listeners of its own alone. */
    private static boolean usesTestNg(MavenProject project) {
        for (Artifact artifact : project.getArtifacts()) {
            if (artifact.getGroupId().equals("org.testng")
                    && artifact.getArtifactId().equals("testng")) {
                return true;
            }
        }
        return false;
    }

    /** @param failure as {@link Failures} describes it; null if there is none */
    void send(String status, Map<String, Object> failure) throws IOException {
        Map<String, Object> event = new LinkedHashMap<>();
        event.put("e", "module");
        event.put("status", status);
        event.put("mojo", failure == null ? null : failure.get("mojo"));
        event.put("kind", failure == null ? null : failure.get("kind"));
        event.put("exceptions", failure == null ? null : failure.get("exceptions"));
        String nonce = user.getProperty("coevo.umpire.nonce");
        String line = nonce + '\t' + new Gson().toJson(event) + '\n';
        try (OutputStream pipe = new FileOutputStream(user.getProperty("coevo.umpire.pipe"), true)) {
            pipe.write(line.getBytes(StandardCharsets.UTF_8));
        }
    }
}
