package coevo.builder;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/** Digests of the class files in a folder. */
final class Fingerprint {
    private static final int HIDDEN = Opcodes.ACC_PRIVATE | Opcodes.ACC_SYNTHETIC;

    /** The digest of all bytes. */
    final String bytecode;

    /**
     * The digest of everything that other sources see when they are compiled: no bodies, no private
     * or synthetic members, no local or anonymous classes, but the values of constants.
     */
    final String outside;

    private Fingerprint(String bytecode, String outside) {
        this.bytecode = bytecode;
        this.outside = outside;
    }

    static Fingerprint of(Path folder) throws IOException {
        MessageDigest bytecode = sha256();
        MessageDigest outside = sha256();
        for (Path file : Folder.files(folder)) {
            if (file.toString().endsWith(".class")) {
                String name = folder.relativize(file).toString();
                byte[] bytes = Files.readAllBytes(file);
                add(bytecode, name, bytes);
                Outside seen = new Outside();
                new ClassReader(bytes).accept(seen, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
                if (!seen.local) {
                    add(outside, name, seen.writer.toByteArray());
                }
            }
        }
        return new Fingerprint(hex(bytecode), hex(outside));
    }

    private static void add(MessageDigest digest, String name, byte[] bytes) {
        digest.update((name + "\0" + bytes.length + "\0").getBytes(StandardCharsets.UTF_8));
        digest.update(bytes);
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e); // every JDK has SHA-256
        }
    }

    private static String hex(MessageDigest digest) {
        return String.format("%064x", new BigInteger(1, digest.digest()));
    }

    /** A class as other sources see it. */
    private static final class Outside extends ClassVisitor {
        final ClassWriter writer = new ClassWriter(0);
        boolean local;
        private String own;

        Outside() {
            super(Opcodes.ASM9);
            cv = writer;
        }

        @Override
        public void visit(
                int version, int access, String name, String sign, String above, String[] others) {
            own = name;
            super.visit(version, access, name, sign, above, others);
        }

        @Override
        public void visitOuterClass(String owner, String name, String descriptor) {
            local = true;
        }

        @Override
        public void visitNestMember(String member) {
            // ignored: nest members include anonymous classes
        }

        /** Keeps its own flags and members; the attribute also lists classes used in bodies. */
        @Override
        public void visitInnerClass(String name, String outer, String inner, int access) {
            if (own.equals(outer) || own.equals(name)) {
                super.visitInnerClass(name, outer, inner, access);
            }
        }

        @Override
        public FieldVisitor visitField(
                int access, String name, String descriptor, String signature, Object value) {
            return (access & HIDDEN) != 0
                    ? null
                    : super.visitField(access, name, descriptor, signature, value);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] thrown) {
            return (access & HIDDEN) != 0
                    ? null
                    : super.visitMethod(access, name, descriptor, signature, thrown);
        }
    }
}
