package entries;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Writes down which methods of some class folders are entered, and which are left as they should.
 *
 * <p>Options: the file to write, then class folders, with {@code |} between them. A line of the file
 * is ENTERED or LEFT, the access flags, class, method and descriptor, with tabs between them.
 */
public final class Entries implements ClassFileTransformer {
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();

    private final String[] options;

    private Entries(String[] options) {
        this.options = options;
    }

    public static void premain(String text, Instrumentation instrumentation) {
        String[] options = text.split("\\|");
        instrumentation.addTransformer(new Entries(options));
        Runtime.getRuntime().addShutdownHook(new Thread(() -> write(Path.of(options[0]))));
    }

    /** Called by what was changed. */
    public static void see(String line) {
        SEEN.add(line);
    }

    private static void write(Path file) {
        try {
            Files.write(file, new TreeSet<>(SEEN), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        CodeSource source = domain == null ? null : domain.getCodeSource();
        if (source == null || source.getLocation() == null) {
            return null;
        }
        String place = source.getLocation().getPath();
        for (int i = 1; i < options.length; i++) {
            if (place.equals(options[i] + '/')) {
                return changed(name, bytes);
            }
        }
        return null;
    }

    private static byte[] changed(String type, byte[] bytes) {
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        ClassVisitor visitor =
                new ClassVisitor(Opcodes.ASM9, writer) {
                    @Override
                    public MethodVisitor visitMethod(
                            int flags, String name, String type1, String more, String[] thrown) {
                        MethodVisitor inner = super.visitMethod(flags, name, type1, more, thrown);
                        String what = flags + "\t" + type.replace('/', '.') + '\t' + name + '\t';
                        return new Marks(inner, what + type1);
                    }
                };
        reader.accept(visitor, 0);
        return writer.toByteArray();
    }

    /** Marks the first instruction of a method and its returns. */
    private static final class Marks extends MethodVisitor {
        private final String what;

        Marks(MethodVisitor inner, String what) {
            super(Opcodes.ASM9, inner);
            this.what = what;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            see("ENTERED\t" + what);
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
                see("LEFT\t" + what);
            }
            super.visitInsn(opcode);
        }

        private void see(String line) {
            super.visitLdcInsn(line);
            super.visitMethodInsn(
                    Opcodes.INVOKESTATIC, "entries/Entries", "see", "(Ljava/lang/String;)V", false);
        }
    }
}
