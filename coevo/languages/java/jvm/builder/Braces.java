package coevo.builder;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Finds method bodies by braces alone in text that the parser cannot read. If the braces do not
 * balance, nothing is found.
 */
final class Braces {
    private static final class Frame {
        final int open;
        // whether it lies directly in a class body, so that it may be a member
        final boolean inClass;
        final boolean isClass; // whether it is a class body itself
        final int outerParentheses;

        Frame(int open, boolean inClass, boolean isClass, int outerParentheses) {
            this.open = open;
            this.inClass = inClass;
            this.isClass = isClass;
            this.outerParentheses = outerParentheses;
        }
    }

    private final String text;
    private final int position;
    private final Deque<Frame> frames = new ArrayDeque<>();
    private final StringBuilder header = new StringBuilder();
    private int parentheses;
    private Outline.Span found;

    private Braces(String text, int position) {
        this.text = text;
        this.position = position;
    }

    /**
     * Returns the body of the member around a position: the block directly in a class body. Returns
     * null if there is none, or if the braces do not balance.
     */
    static Outline.Span body(String text, int position) {
        Braces braces = new Braces(text, position);
        return braces.scan() ? braces.found : null;
    }

    private boolean scan() {
        int at = 0;
        while (at < text.length()) {
            int next = skip(at);
            if (next > at) {
                header.append(' ');
                at = next;
                continue;
            }
            char c = text.charAt(at);
            if (c == '}') {
                if (frames.isEmpty()) {
                    return false;
                }
                close(at);
            } else {
                read(c, at);
            }
            at++;
        }
        return frames.isEmpty();
    }

    private void read(char c, int at) {
        switch (c) {
            case '{':
                open(at);
                break;
            case '(':
                parentheses++;
                break;
            case ')':
                parentheses = Math.max(0, parentheses - 1);
                break;
            case ';':
                header.setLength(0);
                break;
            default:
                if (parentheses == 0) {
                    header.append(c);
                }
        }
    }

    private void open(int at) {
        boolean inClass = frames.isEmpty() || frames.peek().isClass;
        boolean isClass = inClass && parentheses == 0 && declaresType(header.toString());
        frames.push(new Frame(at, inClass && parentheses == 0, isClass, parentheses));
        parentheses = 0;
        header.setLength(0);
    }

    private void close(int at) {
        Frame frame = frames.pop();
        if (frame.inClass && !frame.isClass && frame.open < position && position <= at) {
            found = new Outline.Span(frame.open, at + 1);
        }
        parentheses = frame.outerParentheses;
        header.setLength(0);
    }

    private static boolean declaresType(String header) {
        return header.matches("(?s)(.*[^.\\w])?(class|interface|enum|record)\\s+\\w.*")
                && !header.contains("=");
    }

    /**
     * Returns the end of the comment, string or character that starts here; {@code at} if none
     * does.
     */
    private int skip(int at) {
        if (text.startsWith("//", at)) {
            return end("\n", at + 2, 0);
        }
        if (text.startsWith("/*", at)) {
            return end("*/", at + 2, 2);
        }
        if (text.startsWith("\"\"\"", at)) {
            return end("\"\"\"", at + 3, 3);
        }
        char quote = text.charAt(at);
        return quote == '"' || quote == '\'' ? literal(at, quote) : at;
    }

    private int end(String mark, int from, int length) {
        int found = text.indexOf(mark, from);
        return found < 0 ? text.length() : found + length;
    }

    /** Returns the end of a literal; an unclosed one ends with its line. */
    private int literal(int at, char quote) {
        for (int i = at + 1; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '\n') {
                return i;
            }
            if (c == quote) {
                return i + 1;
            }
            i += c == '\\' ? 1 : 0;
        }
        return text.length();
    }
}
