package coevo.builder;

import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ExpressionStatementTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.SourcePositions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/** Positions of a file's imports, types and members; the contents of bodies are ignored. */
final class Outline {
    static final class Span {
        final int start;
        final int end;

        Span(int start, int end) {
            this.start = start;
            this.end = end;
        }

        boolean holds(int position) {
            return start <= position && position < end;
        }
    }

    /** A type that is not local. */
    static final class Type {
        final String name; // binary
        final String simple;
        final Span span;
        final Type outer;
        final boolean isStatic;
        final boolean hasParents;
        final Set<String> annotations;
        final Map<String, String> variables;
        final List<Member> members = new ArrayList<>();

        Type(String name, ClassTree tree, Span span, Type outer) {
            this.name = name;
            this.simple = tree.getSimpleName().toString();
            this.span = span;
            this.outer = outer;
            isStatic =
                    outer == null
                            || tree.getKind() != Tree.Kind.CLASS
                            || tree.getModifiers().getFlags().contains(Modifier.STATIC);
            hasParents = tree.getExtendsClause() != null || !tree.getImplementsClause().isEmpty();
            annotations = Erasure.annotations(tree.getModifiers());
            variables = isStatic ? new HashMap<>() : new HashMap<>(outer.variables);
            Erasure.addVariables(tree.getTypeParameters(), variables);
        }
    }

    enum Kind {
        METHOD,
        CONSTRUCTOR,
        FIELD,
        INITIALIZER,
        HEADER // an enum constant or record component, which cannot be removed without its type
    }

    static final class Member {
        final Kind kind;
        final String name;
        final List<String> parameters; // erased simple names
        final Span span;
        final Span body; // null if it has none
        final int head; // end of the body's call of another constructor, else of its opening brace
        final Set<String> annotations;
        final Set<Modifier> modifiers;

        Member(
                Kind kind,
                String name,
                List<String> parameters,
                Span span,
                Span body,
                int head,
                ModifiersTree modifiers) {
            this.kind = kind;
            this.name = name;
            this.parameters = parameters;
            this.span = span;
            this.body = body;
            this.head = head;
            annotations =
                    modifiers == null ? Collections.emptySet() : Erasure.annotations(modifiers);
            this.modifiers = modifiers == null ? Collections.emptySet() : modifiers.getFlags();
        }
    }

    final List<Span> imports = new ArrayList<>();
    final List<Type> types = new ArrayList<>();

    private final CompilationUnitTree unit;
    private final SourcePositions positions;
    private final String text;

    Outline(Javac.Parsed parsed, String text) {
        this.unit = parsed.unit;
        this.positions = parsed.positions;
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

    /** Returns the innermost type around a position, or null. */
    Type type(int position) {
        Type found = null;
        for (Type type : types) { // outer types come first
            found = type.span.holds(position) ? type : found;
        }
        return found;
    }

    /** Returns a type and the inner classes that need an instance of it. */
    List<Type> dependents(Type type) {
        List<Type> found = new ArrayList<>(Collections.singleton(type));
        for (Type other : types) {
            if (found.contains(other.outer) && !other.isStatic) {
                found.add(other);
            }
        }
        return found;
    }

    /** Returns a type and all types in it. */
    List<Type> within(Type type) {
        return types.stream()
                .filter(it -> type.span.holds(it.span.start))
                .collect(Collectors.toList());
    }

    private void addType(ClassTree tree, String prefix, Type outer) {
        Type type = new Type(prefix + tree.getSimpleName(), tree, span(tree), outer);
        types.add(type);
        for (Tree member : tree.getMembers()) {
            if (member instanceof ClassTree) {
                addType((ClassTree) member, type.name + "$", type);
            } else {
                addMember(member, type, tree.getKind());
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
                            Kind.INITIALIZER, "", Collections.emptyList(), span, span, 0, null));
        }
    }

    private Member method(MethodTree tree, Type type) {
        Map<String, String> variables = new HashMap<>(type.variables);
        Erasure.addVariables(tree.getTypeParameters(), variables);
        List<String> parameters = new ArrayList<>();
        for (VariableTree parameter : tree.getParameters()) {
            parameters.add(Erasure.of(parameter.getType(), variables));
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
                tree.getModifiers());
    }

    private int head(BlockTree block, Span body) {
        StatementTree first = block.getStatements().isEmpty() ? null : block.getStatements().get(0);
        if (first instanceof ExpressionStatementTree) {
            ExpressionTree call = ((ExpressionStatementTree) first).getExpression();
            if (call instanceof MethodInvocationTree) {
                String name = ((MethodInvocationTree) call).getMethodSelect().toString();
                if (name.equals("this") || name.equals("super") || name.endsWith(".super")) {
                    return span(first).end;
                }
            }
        }
        return body.start + 1;
    }

    private Member variable(VariableTree tree, Tree.Kind owner) {
        Span span = span(tree);
        Set<Modifier> modifiers = tree.getModifiers().getFlags();
        boolean component = owner.name().equals("RECORD") && !modifiers.contains(Modifier.STATIC);
        boolean constant =
                owner == Tree.Kind.ENUM
                        && text.substring(Math.max(0, positions(tree.getModifiers(), span.start)))
                                .matches("(?s)\\s*" + tree.getName() + "\\b.*");
        return new Member(
                component || constant ? Kind.HEADER : Kind.FIELD,
                tree.getName().toString(),
                Collections.emptyList(),
                span,
                null,
                0,
                tree.getModifiers());
    }

    /** Returns the end of a declaration's modifiers; {@code otherwise} if it has none. */
    private int positions(ModifiersTree modifiers, int otherwise) {
        int end = (int) positions.getEndPosition(unit, modifiers);
        return end < 0 ? otherwise : end;
    }

    private Span span(Tree tree) {
        return new Span(
                (int) positions.getStartPosition(unit, tree),
                (int) positions.getEndPosition(unit, tree));
    }
}
