package coevo.worker;

import java.util.List;

/** A JSON object under construction. */
final class Event {
    private final StringBuilder text;

    Event(String kind) {
        text = new StringBuilder("{\"e\":");
        quote(kind);
    }

    private Event(Event other) {
        text = new StringBuilder(other.text);
    }

    Event copy() {
        return new Event(this);
    }

    Event with(String key, String value) {
        name(key);
        quote(value);
        return this;
    }

    Event with(String key, long value) {
        name(key);
        text.append(value);
        return this;
    }

    Event with(String key, List<String> values) {
        name(key);
        text.append('[');
        String comma = "";
        for (String value : values) {
            text.append(comma);
            quote(value);
            comma = ",";
        }
        text.append(']');
        return this;
    }

    private void name(String key) {
        text.append(',');
        quote(key);
        text.append(':');
    }

    private void quote(String value) {
        if (value == null) {
            text.append("null");
            return;
        }
        text.append('"');
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                text.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                text.append(String.format("\\u%04x", (int) c));
            } else {
                text.append(c);
            }
        }
        text.append('"');
    }

    @Override
    public String toString() {
        return text + "}";
    }
}
