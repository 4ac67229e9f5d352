package coevo.umpire;

/** The names by which coevo knows methods and types. */
final class Names {
    private static final String PRIMITIVES = "ZBCDFIJS";
    private static final String[] WORDS = {
        "boolean", "byte", "char", "double", "float", "int", "long", "short"
    };

    private Names() {}

    /** Returns a test's name without what a runner adds, such as {@code [0]} or {@code (Till)}. */
    static String method(String name) {
        return name.split("[\\[(]", 2)[0].trim();
    }

    /** Returns the simple name of a type by its binary name, such as {@code [Ljava.util.Map$Entry;}. */
    static String type(String name) {
        int depth = name.lastIndexOf('[') + 1;
        String element = name.substring(depth);
        if (depth > 0 && element.length() == 1) {
            element = WORDS[PRIMITIVES.indexOf(element)];
        } else if (depth > 0 && element.startsWith("L")) {
            element = element.substring(1, element.length() - 1);
        }
        int start = Math.max(element.lastIndexOf('.'), element.lastIndexOf('$')) + 1;
        StringBuilder simple = new StringBuilder(element.substring(start));
        for (int i = 0; i < depth; i++) {
            simple.append("[]");
        }
        return simple.toString();
    }
}
