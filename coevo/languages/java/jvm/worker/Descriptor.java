package coevo.worker;

import java.io.FileDescriptor;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.reflect.Field;

/** Opens an inherited file descriptor for writing, for which Java has no public method. */
final class Descriptor {
    private Descriptor() {}

    static OutputStream open(int number) throws IOException {
        try {
            return new FileOutputStream("/proc/self/fd/" + number);
        } catch (FileNotFoundException denied) {
            return adopt(number); // a pipe of another user cannot be reopened, only used
        }
    }

    private static OutputStream adopt(int number) throws IOException {
        try {
            Class<?> unsafe = Class.forName("sun.misc.Unsafe");
            Field instance = unsafe.getDeclaredField("theUnsafe");
            instance.setAccessible(true);
            Object access = instance.get(null);
            FileDescriptor descriptor = new FileDescriptor();
            Object offset =
                    unsafe.getMethod("objectFieldOffset", Field.class)
                            .invoke(access, FileDescriptor.class.getDeclaredField("fd"));
            unsafe.getMethod("putInt", Object.class, long.class, int.class)
                    .invoke(access, descriptor, offset, number);
            return new FileOutputStream(descriptor);
        } catch (ReflectiveOperationException e) {
            throw new IOException("file descriptor " + number + " cannot be used", e);
        }
    }
}
