package coevo.builder;

import java.io.IOException;
import java.nio.file.CopyOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Copies, empties and lists trees of files; links are never followed. */
final class Folder {
    private static final CopyOption[] AS_IT_IS = {
        LinkOption.NOFOLLOW_LINKS, StandardCopyOption.REPLACE_EXISTING
    };

    private Folder() {}

    /** Returns the regular files below a folder, sorted; none if the folder does not exist. */
    static List<Path> files(Path folder) throws IOException {
        List<Path> files = new ArrayList<>();
        if (!Files.isDirectory(folder, LinkOption.NOFOLLOW_LINKS)) {
            return files;
        }
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<Path>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                        if (attributes.isRegularFile()) {
                            files.add(file);
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
        Collections.sort(files);
        return files;
    }

    /** Deletes the contents of a folder, which is created if it does not exist. */
    static void empty(Path folder) throws IOException {
        Files.createDirectories(folder);
        Files.walkFileTree(
                folder,
                new SimpleFileVisitor<Path>() {
                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Files.delete(file);
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult postVisitDirectory(Path inner, IOException e)
                            throws IOException {
                        if (!inner.equals(folder)) {
                            Files.delete(inner);
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    static void copy(Path source, Path target) throws IOException {
        Files.walkFileTree(
                source,
                new SimpleFileVisitor<Path>() {
                    @Override
                    public FileVisitResult preVisitDirectory(
                            Path folder, BasicFileAttributes attributes) throws IOException {
                        Files.createDirectories(target.resolve(source.relativize(folder)));
                        return FileVisitResult.CONTINUE;
                    }

                    @Override
                    public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
                            throws IOException {
                        Path copy = target.resolve(source.relativize(file));
                        Files.copy(file, copy, AS_IT_IS);
                        if (attributes.isRegularFile()) {
                            makeWritable(copy);
                        }
                        return FileVisitResult.CONTINUE;
                    }
                });
    }

    private static void makeWritable(Path file) throws IOException {
        String mode = Files.isExecutable(file) ? "rwxr-xr-x" : "rw-r--r--";
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
    }
}
