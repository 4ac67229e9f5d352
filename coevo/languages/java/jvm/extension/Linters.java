package coevo.extension;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.maven.model.Plugin;
import org.apache.maven.model.PluginExecution;
import org.apache.maven.project.MavenProject;
import org.codehaus.plexus.util.xml.Xpp3Dom;

/**
 * Leaves out checks that run inside the compiler: Error Prone, NullAway, the Checker Framework.
 * They generate no code, and versions of a few years ago do not start on a later JDK. Processors
 * that generate code are kept.
 */
final class Linters {
    private static final Pattern ARGUMENTS =
            Pattern.compile(
                    "-Xplugin:\\s*ErrorProne.*|-Xep.*|-J-Xbootclasspath/p:.*(errorprone|javac).*"
                            + "|-J--add-(exports|opens)[=\\s]*jdk\\.compiler/.*",
                    Pattern.DOTALL);
    private static final Pattern PROCESSORS =
            Pattern.compile("\\s*(org\\.checkerframework|com\\.uber\\.nullaway)\\..*", Pattern.DOTALL);
    private static final Pattern GROUPS =
            Pattern.compile("com\\.google\\.errorprone|com\\.uber\\.nullaway|org\\.checkerframework");
    private static final String ERROR_PRONE = "errorprone";

    private final MavenProject project;
    private boolean left;

    Linters(MavenProject project) {
        this.project = project;
    }

    /** Removes the checks; returns whether there were any. */
    boolean leaveOut() {
        Plugin compiler = project.getPlugin(Levels.COMPILER);
        if (compiler == null) {
            return false;
        }
        left |= compiler.getDependencies().removeIf(Linters::isLinter);
        leaveOut(compiler.getConfiguration());
        for (PluginExecution execution : compiler.getExecutions()) {
            leaveOut(execution.getConfiguration());
        }
        return left;
    }

    private static boolean isLinter(org.apache.maven.model.Dependency one) {
        return GROUPS.matcher(one.getGroupId()).matches()
                || one.getArtifactId().contains(ERROR_PRONE);
    }

    private void leaveOut(Object configuration) {
        if (configuration == null) {
            return;
        }
        Xpp3Dom dom = (Xpp3Dom) configuration;
        Xpp3Dom compiler = dom.getChild("compilerId");
        if (compiler != null && String.valueOf(compiler.getValue()).contains(ERROR_PRONE)) {
            compiler.setValue("javac");
            left = true;
        }
        arguments(dom);
        boolean processors = remove(dom, "annotationProcessors", PROCESSORS, null);
        boolean paths = remove(dom, "annotationProcessorPaths", GROUPS, "groupId");
        if (paths || processors && dom.getChild("annotationProcessorPaths") == null) {
            // Without their own path, processors would be searched for on the class path.
            Levels.set(dom, "proc", "none");
        }
    }

    private void arguments(Xpp3Dom dom) {
        remove(dom, "compilerArgs", ARGUMENTS, null);
        Xpp3Dom single = dom.getChild("compilerArgument");
        if (single != null && ARGUMENTS.matcher(String.valueOf(single.getValue()).trim()).matches()) {
            single.setValue("-nowarn");
            left = true;
        }
        Xpp3Dom named = dom.getChild("compilerArguments");
        for (int i = named == null ? -1 : named.getChildCount() - 1; i >= 0; i--) {
            String name = named.getChild(i).getName();
            if (ARGUMENTS.matcher(name.startsWith("-") ? name : "-" + name).matches()) {
                named.removeChild(i);
                left = true;
            }
        }
    }

    /** Removes matching items of a list; returns whether the list became empty and was removed. */
    private boolean remove(Xpp3Dom dom, String list, Pattern pattern, String field) {
        Xpp3Dom found = dom.getChild(list);
        if (found == null || found.getChildCount() == 0) {
            return false;
        }
        List<Integer> places = new ArrayList<>();
        for (int i = found.getChildCount() - 1; i >= 0; i--) {
            Xpp3Dom one = field == null ? found.getChild(i) : found.getChild(i).getChild(field);
            String value = one == null || one.getValue() == null ? "" : one.getValue();
            if (pattern.matcher(field == null ? value : value.trim()).matches()) {
                places.add(i);
            }
        }
        places.forEach(i -> found.removeChild(i));
        left |= !places.isEmpty();
        if (places.isEmpty() || found.getChildCount() > 0) {
            return false;
        }
        for (int i = dom.getChildCount() - 1; i >= 0; i--) {
            if (dom.getChild(i) == found) {
                dom.removeChild(i);
            }
        }
        return true;
    }
}
