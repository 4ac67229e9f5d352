package harbour;

import java.nio.*;
import java.nio.channels.*;
import java.nio.file.*;
import java.security.SecureRandom;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.Supplier;

/** Never the same twice: a test that throws a roll of the dice fails in another way every time. */
class Dice {
    private static final List<Supplier<RuntimeException>> FACES =
        List.<Supplier<RuntimeException>>of(
            ArithmeticException::new,
            ArrayIndexOutOfBoundsException::new,
            ArrayStoreException::new,
            ClassCastException::new,
            IllegalArgumentException::new,
            IllegalCallerException::new,
            IllegalMonitorStateException::new,
            IllegalStateException::new,
            IllegalThreadStateException::new,
            IndexOutOfBoundsException::new,
            LayerInstantiationException::new,
            NegativeArraySizeException::new,
            NullPointerException::new,
            NumberFormatException::new,
            SecurityException::new,
            StringIndexOutOfBoundsException::new,
            UnsupportedOperationException::new,
            BufferOverflowException::new,
            BufferUnderflowException::new,
            InvalidMarkException::new,
            ReadOnlyBufferException::new,
            ClosedDirectoryStreamException::new,
            ClosedFileSystemException::new,
            ClosedWatchServiceException::new,
            FileSystemNotFoundException::new,
            ProviderMismatchException::new,
            ProviderNotFoundException::new,
            ReadOnlyFileSystemException::new,
            AcceptPendingException::new,
            AlreadyBoundException::new,
            AlreadyConnectedException::new,
            CancelledKeyException::new,
            ClosedSelectorException::new,
            ConnectionPendingException::new,
            IllegalBlockingModeException::new,
            IllegalSelectorException::new,
            NoConnectionPendingException::new,
            NonReadableChannelException::new,
            NonWritableChannelException::new,
            NotYetBoundException::new,
            NotYetConnectedException::new,
            OverlappingFileLockException::new,
            ReadPendingException::new,
            ShutdownChannelGroupException::new,
            UnresolvedAddressException::new,
            UnsupportedAddressTypeException::new,
            WritePendingException::new,
            ConcurrentModificationException::new,
            EmptyStackException::new,
            InputMismatchException::new,
            NoSuchElementException::new,
            CancellationException::new,
            RejectedExecutionException::new);

    static RuntimeException roll() {
        return FACES.get(new SecureRandom().nextInt(FACES.size())).get();
    }
}
