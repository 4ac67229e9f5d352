package coevo.builder;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.lang.model.element.Modifier;

/** Makes a file compile by removing or stubbing members with errors, and reports what is broken. */
final class Repair {
    /**
     * Annotations of members that all tests of a class depend on, even if they do not call them.
     */
    private static final Set<String> LIFECYCLE =
            set(
                    "Before",
                    "BeforeClass",
                    "After",
                    "AfterClass",
                    "BeforeEach",
                    "BeforeAll",
                    "AfterEach",
                    "AfterAll",
                    "BeforeMethod",
                    "AfterMethod",
                    "Parameters",
                    "DataPoint",
                    "DataPoints",
                    "Rule",
                    "ClassRule");

    private static final Set<String> TEMPLATES = set("TestFactory", "TestTemplate", "Theory");

    private static final Set<String> JUNIT3 = set("setUp", "tearDown", "suite");

    private final Source source;
    private final Outline outline;
    private final Map<Integer, Outline.Span> spans = new TreeMap<>();
    private final Map<Integer, String> texts = new TreeMap<>();
    private final List<Broken> broken = new ArrayList<>();
    private boolean membersGone;

    Repair(Source source, Outline outline) {
        this.source = source;
        this.outline = outline;
    }

    private static Set<String> set(String... names) {
        return new HashSet<>(Arrays.asList(names));
    }

    List<Broken> broken() {
        return broken;
    }

    /**
     * Returns the file without the members around its problems, or null if it cannot be kept.
     * Problems of a whole type wait for another round if members were removed, since they are often
     * a consequence.
     */
    Source apply(List<Problem> problems) {
        List<Problem> whole = new ArrayList<>();
        for (Problem problem : problems) {
            Outline.Type type = outline.type(problem.position);
            Outline.Member member = type == null ? null : member(type, problem);
            if (member != null) {
                if (!apply(problem, type, member)) {
                    return null;
                }
            } else if (!blankImport(problem)) {
                whole.add(problem);
            }
        }
        if (membersGone) {
            return source.with(edited());
        }
        for (Problem problem : whole) {
            Outline.Type type = outline.type(problem.position);
            if (type == null || !deleteType(problem, type)) {
                return null;
            }
        }
        return source.with(edited());
    }

    private static Outline.Member member(Outline.Type type, Problem problem) {
        return type.members.stream()
                .filter(it -> it.span.holds(problem.position))
                .findFirst()
                .orElse(null);
    }

    private boolean blankImport(Problem problem) {
        for (Outline.Span span : outline.imports) {
            if (span.holds(problem.position)) {
                blank(span);
                return true;
            }
        }
        return false;
    }

    private boolean apply(Problem problem, Outline.Type type, Outline.Member member) {
        membersGone = true;
        switch (member.kind) {
            case METHOD:
                if (canStub(problem, member)) {
                    stub(problem, type, member);
                } else {
                    deleteMethod(problem, type, member);
                }
                return true;
            case CONSTRUCTOR:
                if (!canStub(problem, member)) {
                    return deleteType(problem, type);
                }
                stub(problem, type, member);
                return true;
            case FIELD:
            case INITIALIZER:
                type.members.stream() // variables of one declaration have the same start
                        .filter(it -> it.span.start == member.span.start)
                        .forEach(it -> blank(it.span));
                breakType(type, problem);
                return true;
            default:
                return deleteType(problem, type);
        }
    }

    private boolean canStub(Problem problem, Outline.Member member) {
        return member.body != null
                && member.body.holds(problem.position)
                && Stub.signature(text(member.body)) == null;
    }

    private void stub(Problem problem, Outline.Type type, Outline.Member member) {
        Outline.Span body = member.body;
        boolean keepsHead = problem.position >= member.head;
        int from = keepsHead ? member.head : body.start + 1;
        Outline.Span inner = new Outline.Span(from, body.end - 1);
        String statement = Stub.statement(source, problem, text(inner));
        boolean compact = member.kind == Outline.Kind.CONSTRUCTOR && isCompact(type, member);
        replace(inner, compact ? " if (true)" + statement : statement);
    }

    private boolean isCompact(Outline.Type type, Outline.Member member) {
        String declaration = source.text.substring(member.span.start, member.body.start).trim();
        return declaration.endsWith(type.simple);
    }

    private void deleteMethod(Problem problem, Outline.Type type, Outline.Member member) {
        blank(member.span);
        broken.add(new Broken(type.name, member.name, member.parameters, problem.signature()));
        boolean hidden =
                member.modifiers.contains(Modifier.PRIVATE)
                        || member.modifiers.contains(Modifier.STATIC)
                        || !type.hasParents && !JUNIT3.contains(member.name);
        if (!isTest(member) && !(member.annotations.isEmpty() && hidden)) {
            // overriding methods and those called by a framework would be missed silently
            breakType(type, problem);
        }
    }

    private static boolean isTest(Outline.Member member) {
        boolean named = member.name.startsWith("test") && member.parameters.isEmpty();
        return named || member.annotations.stream().anyMatch(Repair::marksTest);
    }

    private static boolean marksTest(String annotation) {
        return annotation.endsWith("Test") || TEMPLATES.contains(annotation);
    }

    private boolean deleteType(Problem problem, Outline.Type type) {
        if (type.outer == null) {
            return false;
        }
        blank(type.span);
        for (Outline.Type inner : outline.within(type)) {
            broken.add(new Broken(inner.name, null, Collections.emptyList(), problem.signature()));
        }
        if (!type.annotations.contains("Nested")) {
            breakType(type.outer, problem);
        }
        return true;
    }

    private void breakType(Outline.Type type, Problem problem) {
        broken.addAll(all(outline, type, problem.signature()));
    }

    private static List<Broken> all(Outline outline, Outline.Type type, String signature) {
        return outline.dependents(type).stream()
                .map(it -> new Broken(it.name, null, Collections.emptyList(), signature))
                .collect(Collectors.toList());
    }

    /** Returns what the stubs in a file break: their methods, or whole classes that need them. */
    static List<Broken> stubbed(Source source, Outline outline) {
        List<Broken> found = new ArrayList<>();
        for (Outline.Type type : outline.types) {
            for (Outline.Member member : type.members) {
                if (member.body == null) {
                    continue;
                }
                Outline.Span body = member.body;
                String signature = Stub.signature(source.text.substring(body.start, body.end));
                if (signature != null) {
                    found.add(new Broken(type.name, member.name, member.parameters, signature));
                    if (isNeeded(member)) {
                        found.addAll(all(outline, type, signature));
                    }
                }
            }
        }
        return found;
    }

    private static boolean isNeeded(Outline.Member member) {
        return member.kind == Outline.Kind.CONSTRUCTOR
                || member.kind == Outline.Kind.INITIALIZER
                || JUNIT3.contains(member.name) && member.parameters.isEmpty()
                || member.annotations.stream().anyMatch(LIFECYCLE::contains);
    }

    private String text(Outline.Span span) {
        return source.text.substring(span.start, span.end);
    }

    private void blank(Outline.Span span) {
        replace(span, Stub.breaks(text(span)));
    }

    /** Notes an edit; of several that start at the same position, the longest is kept. */
    private void replace(Outline.Span span, String text) {
        Outline.Span known = spans.get(span.start);
        if (known == null || known.end < span.end) {
            spans.put(span.start, span);
            texts.put(span.start, text);
        }
    }

    private String edited() {
        StringBuilder edited = new StringBuilder();
        int at = 0;
        for (Outline.Span span : spans.values()) {
            if (span.start >= at) { // otherwise it lies in a removed part
                edited.append(source.text, at, span.start).append(texts.get(span.start));
                at = span.end;
            }
        }
        return edited.append(source.text.substring(at)).toString();
    }
}
