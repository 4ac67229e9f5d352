package coevo.extension;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.model.Dependency;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluationException;
import org.codehaus.plexus.util.xml.Xpp3Dom;
import org.eclipse.aether.RepositorySystem;
import org.eclipse.aether.resolution.DependencyResolutionException;

/**
 * The settings with which the compiler plugin would compile the tests or the main sources,
 * including its defaults.
 */
final class CompilerSettings {
    private final Xpp3Dom configuration;
    private final PluginParameterExpressionEvaluator evaluator;
    private final MavenProject project;
    private final Resolution resolution;

    CompilerSettings(MojoExecution mojo, MavenSession session, RepositorySystem repositories) {
        configuration = mojo.getConfiguration();
        project = session.getCurrentProject();
        resolution = new Resolution(repositories, session);
        evaluator = new PluginParameterExpressionEvaluator(session, mojo);
    }

    Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("source", first("testSource", "source"));
        map.put("target", first("testTarget", "target"));
        map.put("release", first("testRelease", "release"));
        map.put("encoding", value("encoding"));
        map.put("debug", debug());
        map.put("parameters", "true".equals(value("parameters")));
        map.put("proc", value("proc"));
        map.put("processor_path", processorPath());
        map.put("processors", values("annotationProcessors"));
        map.put("arguments", arguments());
        map.put("processed", value("generatedTestSourcesDirectory"));
        return map;
    }

    /** Returns javac's option for debug information; null if javac's default applies. */
    private String debug() {
        if ("false".equals(value("debug"))) {
            return null;
        }
        String level = value("debuglevel");
        return level == null ? "-g" : "-g:" + level;
    }

    /**
     * Returns the files of annotationProcessorPaths; none if there are none or they cannot be
     * resolved.
     */
    private List<String> processorPath() {
        List<String> coordinates = new ArrayList<>();
        for (Xpp3Dom path : child("annotationProcessorPaths").getChildren()) {
            String group = text(path, "groupId");
            String artifact = text(path, "artifactId");
            String version = text(path, "version");
            String type = text(path, "type") == null ? "jar" : text(path, "type");
            String classifier = text(path, "classifier");
            String known = version == null ? managed(group, artifact) : version;
            if (group == null || artifact == null || known == null) {
                continue;
            }
            String middle = classifier == null ? type : type + ":" + classifier;
            coordinates.add(group + ":" + artifact + ":" + middle + ":" + known);
        }
        try {
            return coordinates.isEmpty() ? coordinates : resolution.files(project, coordinates);
        } catch (DependencyResolutionException e) {
            return new ArrayList<>(); // the plugin itself fails because of this if it runs
        }
    }

    /** Returns the version from dependency management, which the plugin respects since 3.12. */
    private String managed(String group, String artifact) {
        if (project.getDependencyManagement() == null) {
            return null;
        }
        for (Dependency one : project.getDependencyManagement().getDependencies()) {
            if (one.getGroupId().equals(group) && one.getArtifactId().equals(artifact)) {
                return one.getVersion();
            }
        }
        return null;
    }

    private String text(Xpp3Dom parent, String name) {
        Xpp3Dom child = parent.getChild(name);
        return child == null ? null : evaluate(child.getValue());
    }

    private List<String> arguments() {
        List<String> arguments = new ArrayList<>(values("compilerArgs"));
        String single = first("testCompilerArgument", "compilerArgument");
        if (single != null) {
            arguments.add(single);
        }
        Xpp3Dom named = child("testCompilerArguments");
        for (Xpp3Dom one : (named.getChildCount() > 0 ? named : child("compilerArguments")).getChildren()) {
            arguments.add(one.getName().startsWith("-") ? one.getName() : "-" + one.getName());
            String value = evaluate(one.getValue());
            if (value != null) {
                arguments.add(value);
            }
        }
        return arguments;
    }

    private Xpp3Dom child(String name) {
        Xpp3Dom child = configuration.getChild(name);
        return child == null ? new Xpp3Dom(name) : child;
    }

    private List<String> values(String name) {
        List<String> values = new ArrayList<>();
        for (Xpp3Dom one : child(name).getChildren()) {
            String value = evaluate(one.getValue());
            if (value != null) {
                values.add(value);
            }
        }
        return values;
    }

    private String first(String name, String other) {
        String value = value(name);
        return value != null ? value : value(other);
    }

    private String value(String name) {
        Xpp3Dom child = child(name);
        String value = evaluate(child.getValue());
        return value != null ? value : evaluate(child.getAttribute("default-value"));
    }

    private String evaluate(String expression) {
        if (expression == null || expression.trim().isEmpty()) {
            return null;
        }
        try {
            Object value = evaluator.evaluate(expression.trim());
            return value == null || value.toString().isEmpty() ? null : value.toString();
        } catch (ExpressionEvaluationException e) {
            return null;
        }
    }
}
