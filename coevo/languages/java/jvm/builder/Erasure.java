package coevo.builder;

import com.sun.source.tree.AnnotatedTypeTree;
import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ArrayTypeTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** Types as sources name them, without packages and type arguments. */
final class Erasure {
    private Erasure() {}

    /**
     * Returns the simple name of a type, without type arguments.
     *
     * @param variables the erasures of type variables, by name
     */
    static String of(Tree type, Map<String, String> variables) {
        if (type instanceof IdentifierTree) {
            String name = ((IdentifierTree) type).getName().toString();
            return variables.getOrDefault(name, name);
        }
        if (type instanceof MemberSelectTree) {
            return ((MemberSelectTree) type).getIdentifier().toString();
        }
        if (type instanceof ParameterizedTypeTree) {
            return of(((ParameterizedTypeTree) type).getType(), variables);
        }
        if (type instanceof ArrayTypeTree) {
            return of(((ArrayTypeTree) type).getType(), variables) + "[]";
        }
        if (type instanceof AnnotatedTypeTree) {
            return of(((AnnotatedTypeTree) type).getUnderlyingType(), variables);
        }
        return String.valueOf(type);
    }

    static Set<String> annotations(ModifiersTree modifiers) {
        return modifiers.getAnnotations().stream()
                .map(AnnotationTree::getAnnotationType)
                .map(it -> of(it, Collections.emptyMap()))
                .collect(Collectors.toSet());
    }

    static void addVariables(
            List<? extends TypeParameterTree> parameters, Map<String, String> variables) {
        for (TypeParameterTree parameter : parameters) {
            variables.put(parameter.getName().toString(), "Object");
        }
        for (TypeParameterTree parameter : parameters) {
            if (!parameter.getBounds().isEmpty()) {
                String bound = of(parameter.getBounds().get(0), variables);
                variables.put(parameter.getName().toString(), bound);
            }
        }
    }
}
