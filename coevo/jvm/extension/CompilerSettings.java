package coevo.extension;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.maven.execution.MavenSession;
import org.apache.maven.plugin.MojoExecution;
import org.apache.maven.plugin.PluginParameterExpressionEvaluator;
import org.codehaus.plexus.component.configurator.expression.ExpressionEvaluationException;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/** How the compiler plugin would compile the tests, defaults included. */
final class CompilerSettings {
    private final Xpp3Dom configuration;
    private final PluginParameterExpressionEvaluator evaluator;

    CompilerSettings(MojoExecution mojo, MavenSession session) {
        configuration = mojo.getConfiguration();
        evaluator = new PluginParameterExpressionEvaluator(session, mojo);
    }

    Map<String, Object> toMap() {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("source", first("testSource", "source"));
        map.put("target", first("testTarget", "target"));
        map.put("release", first("testRelease", "release"));
        map.put("encoding", value("encoding"));
        map.put("parameters", "true".equals(value("parameters")));
        map.put("proc", value("proc"));
        map.put("processor_paths", child("annotationProcessorPaths").getChildCount() > 0);
        map.put("processors", values("annotationProcessors"));
        map.put("arguments", arguments());
        return map;
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
