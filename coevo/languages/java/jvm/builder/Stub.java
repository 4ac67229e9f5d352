package coevo.builder;

/** The code that replaces a body that does not compile. */
final class Stub {
    /** Prefix of the error's message, which the test worker recognises. */
    static final String MARK = "coevo.stub:";

    private static final String OPENING = " throw new java.lang.Error(\"" + MARK;
    private static final int MESSAGE = 500;

    private Stub() {}

    /**
     * Returns a statement that throws an error which names the problem. It has as many line breaks
     * as the code that it replaces.
     */
    static String statement(Source source, Problem problem, String replaced) {
        String at = source.name + ":" + problem.line + " " + problem.signature();
        String plain = at.replace('"', '\'').replace('\\', '/').replaceAll("[^ -~]", "?");
        String message = plain.substring(0, Math.min(MESSAGE, plain.length()));
        return OPENING + message + "\");" + breaks(replaced);
    }

    /** Returns the signature of the problem for which a body was stubbed, or null if it was not. */
    static String signature(String body) {
        int start = body.indexOf(OPENING);
        if (start < 0) {
            return null;
        }
        String message = body.substring(start + OPENING.length(), body.indexOf("\");", start));
        return message.replaceFirst("^.*?\\.java:\\d+ ", "");
    }

    static String breaks(String replaced) {
        return replaced.replaceAll("[^\n]+", "");
    }
}
