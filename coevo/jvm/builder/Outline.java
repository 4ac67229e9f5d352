package coevo.builder;

import com.sun.source.tree.AnnotatedTypeTree;
import com.sun.source.tree.AnnotationTree;
import com.sun.source.tree.ArrayTypeTree;
import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.SourcePositions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/** Where a file's imports, types and members stand; what lies inside of bodies is not looked at. */
final class Outline {
    record Span(int start, int end) {
        boolean holds(int position) {
            return start <= position && position < end;
        }
    }

    /**
     * A type that is not local.
     *
     * @param name binary
     */
    record Type(
            String name,
            String simple,
            Span span,
            Type outer,
            boolean isStatic,
            boolean hasParents,
            Set<String> annotations,
            Map<String, String> variables,
            List<Member> members) {}

    enum Kind {
        METHOD,
        CONSTRUCTOR,
        FIELD,
        INITIALIZER,
        HEADER // an enum constant or record component: cannot go without its type
    }

    /**
     * @param parameters erased simple names
     * @param body null if it has none
     * @param head end of the body's call of another constructor, else of its brace
     */
    record Member(
            Kind kind,
            String name,
            List<String> parameters,
            Span span,
            Span body,
            int head,
            Set<String> annotations,
            Set<Modifier> modifiers) {}

    final List<Span> imports = new ArrayList<>();
    final List<Type> types = new ArrayList<>();

    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final String text;

    Outline(Javac.Parsed parsed, String text) {
        this.unit = parsed.unit();
        this.positions = parsed.positions();
        this.text = text;
        for (ImportTree one : unit.getImports()) {
            imports.add(span(one));
        }
        String prefix = unit.getPackageName() == null ? "" : unit.getPackageName() + ".";
        for (Tree tree : unit.getTypeDecls()) {
            if (tree instanceof ClassTree) {
                addType((ClassTree) tree, prefix, null);
            }
        }
    }

    /** The innermost type around a position, or null. */
    Type type(int position) {
        Type found = null;
        for (Type type : types) { // outer ones come first
            found = type.span.holds(position) ? type : found;
        }
        return found;
    }

    /** A type with the inner classes that cannot be without an instance of it. */
    List<Type> dependents(Type type) {
        List<Type> found = new ArrayList<>(List.of(type));
        for (Type other : types) {
            if (found.contains(other.outer) && !other.isStatic) {
                found.add(other);
            }
        }
        return found;
    }

    /** A type and all types in it. */
    List<Type> within(Type type) {
        return types.stream()
                .filter(it -> type.span.holds(it.span.start))
                .collect(Collectors.toList());
    }

    private void addType(ClassTree tree, String prefix, Type outer) {
        String simple = tree.getSimpleName().toString();
        Tree.Kind kind = tree.getKind();
        boolean isStatic =
                outer == null
                        || kind != Tree.Kind.CLASS
                        || tree.getModifiers().getFlags().contains(Modifier.STATIC);
        Map<String, String> variables =
                new HashMap<>(isStatic || outer == null ? Map.of() : outer.variables);
        addVariables(tree.getTypeParameters(), variables);
        Type type =
                new Type(
                        prefix + simple,
                        simple,
                        span(tree),
                        outer,
                        isStatic,
                        tree.getExtendsClause() != null || !tree.getImplementsClause().isEmpty(),
                        annotations(tree.getModifiers()),
                        variables,
                        new ArrayList<>());
        types.add(type);
        for (Tree member : tree.getMembers()) {
            if (member instanceof ClassTree) {
                addType((ClassTree) member, type.name + "$", type);
            } else {
                addMember(member, type, kind);
            }
        }
    }

    private void addMember(Tree tree, Type type, Tree.Kind kind) {
        if (tree instanceof MethodTree) {
            type.members.add(method((MethodTree) tree, type));
        } else if (tree instanceof VariableTree) {
            type.members.add(variable((VariableTree) tree, kind));
        } else if (tree instanceof BlockTree) {
            Span span = span(tree);
            type.members.add(
                    new Member(
                            Kind.INITIALIZER, "", List.of(), span, span, 0, Set.of(), Set.of()));
        }
    }

    private Member method(MethodTree tree, Type type) {
        Map<String, String> variables = new HashMap<>(type.variables);
        addVariables(tree.getTypeParameters(), variables);
        List<String> parameters = new ArrayList<>();
        for (VariableTree parameter : tree.getParameters()) {
            parameters.add(erase(parameter.getType(), variables));
        }
        boolean constructor = tree.getName().contentEquals("<init>");
        Span body = tree.getBody() == null ? null : span(tree.getBody());
        return new Member(
                constructor ? Kind.CONSTRUCTOR : Kind.METHOD,
                tree.getName().toString(),
                parameters,
                span(tree),
                body,
                body == null ? 0 : head(tree.getBody(), body),
                annotations(tree.getModifiers()),
                tree.getModifiers().getFlags());
    }

    private int head(BlockTree block, Span body) {
        if (!block.getStatements().isEmpty()
                && block.getStatements().get(0) instanceof ExpressionStatementTree first
                && first.getExpression() instanceof MethodInvocationTree call) {
            String name = call.getMethodSelect().toString();
            if (name.equals("this") || name.equals("super") || name.endsWith(".super")) {
                return span(first).end;
            }
        }
        return body.start + 1;
    }

    private Member variable(VariableTree tree, Tree.Kind owner) {
        Span span = span(tree);
        Set<Modifier> modifiers = tree.getModifiers().getFlags();
        boolean component = owner == Tree.Kind.RECORD && !modifiers.contains(Modifier.STATIC);
        boolean constant =
                owner == Tree.Kind.ENUM
                        && text.substring(Math.max(0, positions(tree.getModifiers(), span.start)))
                                .stripLeading()
                                .matches("(?s)" + tree.getName() + "\\b.*");
        return new Member(
                component || constant ? Kind.HEADER : Kind.FIELD,
                tree.getName().toString(),
                List.of(),
                span,
                null,
                0,
                annotations(tree.getModifiers()),
                modifiers);
    }

    /** Where the modifiers of a declaration end. */
    private int positions(ModifiersTree modifiers, int otherwise) {
        int end = (int) positions.getEndPosition(unit, modifiers);
        return end < 0 ? otherwise : end;
    }

    private Span span(Tree tree) {
        return new Span(
                (int) positions.getStartPosition(unit, tree),
                (int) positions.getEndPosition(unit, tree));
    }

    private static Set<String> annotations(ModifiersTree modifiers) {
        return modifiers.getAnnotations().stream()
                .map(AnnotationTree::getAnnotationType)
                .map(it -> erase(it, Map.of()))
                .collect(Collectors.toSet());
    }

    private static void addVariables(
            List<? extends TypeParameterTree> parameters, Map<String, String> variables) {
        for (TypeParameterTree parameter : parameters) {
            variables.put(parameter.getName().toString(), "Object");
        }
        for (TypeParameterTree parameter : parameters) {
            if (!parameter.getBounds().isEmpty()) {
                String bound = erase(parameter.getBounds().get(0), variables);
                variables.put(parameter.getName().toString(), bound);
            }
        }
    }

    private static String erase(Tree type, Map<String, String> variables) {
        if (type instanceof IdentifierTree identifier) {
            String name = identifier.getName().toString();
            return variables.getOrDefault(name, name);
        }
        if (type instanceof MemberSelectTree select) {
            return select.getIdentifier().toString();
        }
        if (type instanceof ParameterizedTypeTree generic) {
            return erase(generic.getType(), variables);
        }
        if (type instanceof ArrayTypeTree array) {
            return erase(array.getType(), variables) + "[]";
        }
        if (type instanceof AnnotatedTypeTree annotated) {
            return erase(annotated.getUnderlyingType(), variables);
        }
        return String.valueOf(type);
    }
}
