package coevo.builder;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileNotFoundException;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Requests and responses on stdin and stdout, which no other code in this process may use. */
final class Wire {
    private static final Gson GSON =
            new GsonBuilder().serializeNulls().disableHtmlEscaping().create();

    private final DataInputStream in;
    private final DataOutputStream out;

    private Wire(InputStream in, OutputStream out) {
        this.in = new DataInputStream(new BufferedInputStream(in));
        this.out = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
    }

    /** Reserves stdin and stdout, if possible even against child processes. */
    static Wire open() throws IOException {
        InputStream in = new FileInputStream(FileDescriptor.in);
        OutputStream out = new FileOutputStream(FileDescriptor.out);
        try {
            InputStream ownIn = new FileInputStream("/proc/self/fd/0");
            OutputStream ownOut = new FileOutputStream("/proc/self/fd/1");
            in.close(); // the JDK replaces a closed standard descriptor by /dev/null
            out.close();
            in = ownIn;
            out = ownOut;
        } catch (FileNotFoundException denied) {
            // A pipe of another user cannot be reopened, so only System.in and System.out are
            // replaced.
        }
        System.setIn(new ByteArrayInputStream(new byte[0]));
        return new Wire(in, out);
    }

    /** Returns the next request, or null at the end. */
    Request next() throws IOException {
        int count;
        try {
            count = in.readInt();
        } catch (EOFException end) {
            return null;
        }
        List<String> strings = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] bytes = new byte[in.readInt()];
            in.readFully(bytes);
            strings.add(new String(bytes, StandardCharsets.UTF_8));
        }
        return Request.of(strings);
    }

    void send(Response response) throws IOException {
        out.writeInt(1);
        write(GSON.toJson(response.json));
        for (Map.Entry<String, Path> folder : response.folders.entrySet()) {
            for (Path file : Folder.files(folder.getValue())) {
                out.writeByte(1);
                write(folder.getKey() + folder.getValue().relativize(file));
                byte[] bytes = Files.readAllBytes(file);
                out.writeLong(bytes.length);
                out.write(bytes);
            }
        }
        out.writeByte(0);
        out.flush();
    }

    private void write(String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        out.writeInt(bytes.length);
        out.write(bytes);
    }
}
