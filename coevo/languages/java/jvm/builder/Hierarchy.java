package coevo.builder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Opcodes;

/** The superclasses, interfaces and enclosing classes of classes, read from class files. */
final class Hierarchy {
    private Hierarchy() {}

    static List<Map<String, Object>> of(Path folder) throws IOException {
        List<Map<String, Object>> classes = new ArrayList<>();
        for (Path file : Folder.files(folder)) {
            if (file.toString().endsWith(".class")) {
                classes.add(describe(new ClassReader(Files.readAllBytes(file))));
            }
        }
        return classes;
    }

    private static Map<String, Object> describe(ClassReader reader) {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("name", binary(reader.getClassName()));
        map.put("super", binary(reader.getSuperName()));
        map.put("interfaces", Arrays.stream(reader.getInterfaces()).map(Hierarchy::binary).toArray());
        map.put("abstract", (reader.getAccess() & Opcodes.ACC_ABSTRACT) != 0);
        map.put("outer", binary(outer(reader)));
        return map;
    }

    /** Returns the class around a nested, local or anonymous one; null for a top-level one. */
    private static String outer(ClassReader reader) {
        String[] found = new String[1];
        reader.accept(
                new ClassVisitor(Opcodes.ASM9) {
                    @Override
                    public void visitOuterClass(String owner, String method, String descriptor) {
                        found[0] = owner;
                    }

                    @Override
                    public void visitInnerClass(String name, String outer, String inner, int access) {
                        if (outer != null && name.equals(reader.getClassName())) {
                            found[0] = outer;
                        }
                    }
                },
                ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
        return found[0];
    }

    private static String binary(String internal) {
        return internal == null ? null : internal.replace('/', '.');
    }
}
