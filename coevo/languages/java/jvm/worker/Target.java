package coevo.worker;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** A test method, by name and erased simple parameter types, to be run in one or more classes. */
final class Target {
    /** Separates a class from a nested class that it inherits, see {@code Run}. */
    static final String VIA = "/";

    final int index;
    final List<String> classes;
    final String method;
    private final List<String> parameters;

    private Target(int index, List<String> classes, String method, List<String> parameters) {
        this.index = index;
        this.classes = classes;
        this.method = method;
        this.parameters = parameters;
    }

    static Target of(List<String> strings) {
        return new Target(
                Integer.parseInt(strings.get(0)),
                split(strings.get(1)),
                strings.get(2),
                split(strings.get(3)));
    }

    private static List<String> split(String text) {
        return text.isEmpty() ? Collections.emptyList() : Arrays.asList(text.split(","));
    }

    /**
     * Finds the method in a class, its superclasses or its interfaces; null if there is none. If
     * the name is unique, the parameters need not match: the parser's erased types may differ from
     * the compiler's.
     */
    Method find(Class<?> type) {
        List<Method> named = new ArrayList<>();
        for (Class<?> owner : owners(type)) {
            for (Method candidate : owner.getDeclaredMethods()) {
                if (candidate.getName().equals(method)
                        && !candidate.isBridge()
                        && !candidate.isSynthetic()
                        && !overridden(candidate, named)) {
                    named.add(candidate);
                }
            }
        }
        for (Method candidate : named) {
            if (simpleNames(candidate).equals(parameters)) {
                return candidate;
            }
        }
        return named.size() == 1 ? named.get(0) : null;
    }

    private static boolean overridden(Method candidate, List<Method> nearer) {
        for (Method method : nearer) {
            if (Arrays.equals(method.getParameterTypes(), candidate.getParameterTypes())) {
                return true;
            }
        }
        return false;
    }

    private static Set<Class<?>> owners(Class<?> type) {
        Set<Class<?>> owners = new LinkedHashSet<>();
        for (Class<?> at = type; at != null && at != Object.class; at = at.getSuperclass()) {
            owners.add(at);
        }
        for (Class<?> owner : new ArrayList<>(owners)) {
            addInterfaces(owner, owners);
        }
        return owners;
    }

    private static void addInterfaces(Class<?> type, Set<Class<?>> owners) {
        for (Class<?> parent : type.getInterfaces()) {
            if (owners.add(parent)) {
                addInterfaces(parent, owners);
            }
        }
    }

    private static List<String> simpleNames(Method method) {
        List<String> names = new ArrayList<>();
        for (Class<?> type : method.getParameterTypes()) {
            names.add(type.getSimpleName());
        }
        return names;
    }
}
