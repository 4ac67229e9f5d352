package coevo.builder;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;

/** A source file in its current state. */
final class Source {
    final URI uri;
    final String name; // path relative to its root, with forward slashes
    final String text;

    private Source(URI uri, String name, String text) {
        this.uri = uri;
        this.name = name;
        this.text = text;
    }

    /** Reads the sources below folders, except for some files. */
    static List<Source> read(List<String> roots, Charset encoding, Collection<String> without)
            throws IOException {
        List<Source> sources = new ArrayList<>();
        Set<Path> absent = without.stream().map(it -> Paths.get(it)).collect(Collectors.toSet());
        for (String folder : roots) {
            Path root = Paths.get(folder);
            for (Path file : Folder.files(root)) {
                String name = root.relativize(file).toString();
                if (name.endsWith(".java")
                        && !file.endsWith("module-info.java")
                        && !absent.contains(file)) {
                    String text = new String(Files.readAllBytes(file), encoding);
                    sources.add(new Source(file.toUri(), name, text));
                }
            }
        }
        return sources;
    }

    Source with(String changed) {
        return new Source(uri, name, changed);
    }

    int line(int position) {
        return (int) text.substring(0, position).chars().filter(c -> c == '\n').count() + 1;
    }

    JavaFileObject toFileObject() {
        return new SimpleJavaFileObject(uri, JavaFileObject.Kind.SOURCE) {
            @Override
            public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                return text;
            }
        };
    }
}
