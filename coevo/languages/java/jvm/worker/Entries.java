package coevo.worker;

import java.io.File;
import java.io.IOException;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URI;
import java.net.URISyntaxException;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jacoco.agent.rt.internal_bac9136.asm.ClassReader;
import org.jacoco.agent.rt.internal_bac9136.asm.ClassVisitor;
import org.jacoco.agent.rt.internal_bac9136.asm.ClassWriter;
import org.jacoco.agent.rt.internal_bac9136.asm.MethodVisitor;
import org.jacoco.agent.rt.internal_bac9136.asm.Opcodes;

/**
 * An agent that records which methods are entered, in addition to JaCoCo.
 *
 * <p>JaCoCo only marks the ends of code sections: a method whose first line calls a method that
 * throws counts as never executed. This agent is started after JaCoCo's, instruments the classes
 * that JaCoCo has changed, and uses the pinned agent's own copy of ASM, since another copy could
 * belong to the project. Options: class folders, separated by {@code |}.
 */
public final class Entries implements ClassFileTransformer {
    private static final List<String> NAMES = new ArrayList<>();
    private static final BitSet SEEN = new BitSet();

    private final Set<URI> places = new HashSet<>();

    private Entries(String[] folders) throws IOException {
        for (String folder : folders) {
            places.add(new File(folder).getCanonicalFile().toURI());
        }
    }

    public static void premain(String options, Instrumentation instrumentation)
            throws IOException {
        instrumentation.addTransformer(new Entries(options.split("\\|")));
    }

    /** Marks a method as entered; instrumented methods call this at their beginning. */
    public static void enter(int number) {
        if (!SEEN.get(number)) {
            synchronized (SEEN) {
                SEEN.set(number);
            }
        }
    }

    /** Returns the entered methods as CLASS.METHODDESCRIPTOR with internal names, one per line. */
    static String entered() {
        synchronized (SEEN) {
            StringBuilder text = new StringBuilder();
            SEEN.stream().forEach(number -> text.append(NAMES.get(number)).append('\n'));
            return text.toString();
        }
    }

    static void reset() {
        synchronized (SEEN) {
            SEEN.clear();
        }
    }

    @Override
    public byte[] transform(
            ClassLoader loader, String type, Class<?> old, ProtectionDomain domain, byte[] bytes) {
        if (old != null || !isOfTheCode(domain) || !seesThis(loader)) {
            return null;
        }
        ClassReader reader = new ClassReader(bytes);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        reader.accept(new Marked(writer, type), 0);
        return writer.toByteArray();
    }

    private boolean isOfTheCode(ProtectionDomain domain) {
        CodeSource source = domain == null ? null : domain.getCodeSource();
        if (source == null || source.getLocation() == null) {
            return false;
        }
        try {
            return places.contains(source.getLocation().toURI());
        } catch (URISyntaxException odd) {
            return false;
        }
    }

    private static boolean seesThis(ClassLoader loader) {
        ClassLoader at = loader;
        while (at != null && at != Entries.class.getClassLoader()) {
            at = at.getParent();
        }
        return at != null;
    }

    private static int number(String name) {
        synchronized (SEEN) {
            NAMES.add(name);
            return NAMES.size() - 1;
        }
    }

    private static final class Marked extends ClassVisitor {
        private final String type;

        Marked(ClassVisitor inner, String type) {
            super(Opcodes.ASM9, inner);
            this.type = type;
        }

        @Override
        public MethodVisitor visitMethod(
                int flags, String name, String descriptor, String signature, String[] thrown) {
            MethodVisitor inner = super.visitMethod(flags, name, descriptor, signature, thrown);
            int number = number(type + '.' + name + descriptor);
            return new MethodVisitor(Opcodes.ASM9, inner) {
                @Override
                public void visitCode() {
                    super.visitCode();
                    super.visitLdcInsn(number);
                    super.visitMethodInsn(
                            Opcodes.INVOKESTATIC, "coevo/worker/Entries", "enter", "(I)V", false);
                }
            };
        }
    }
}
