// Writes the class files of this JVM's modules to standard output: ExtractAll [MODULE...], all modules if none is named.
// Each class is its name with its module's before it, as `java.base/java/lang/Object`, then the length of its file (both
// as DataOutput writes them), then the file.
import java.io.BufferedOutputStream;
import java.io.DataOutputStream;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

public class ExtractAll {
    private static final String ENDING = ".class";

    public static void main(String[] args) throws IOException {
        Path image = FileSystems.getFileSystem(URI.create("jrt:/")).getPath("/modules");
        List<Path> modules = new ArrayList<>();
        for (String name : args) {
            Path module = image.resolve(name);
            if (!Files.isDirectory(module)) {
                System.err.println("this JVM has no module '" + name + "'");
                System.exit(1);
            }
            modules.add(module);
        }
        try (DataOutputStream output =
                new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out)))) {
            for (Path module : modules.isEmpty() ? List.of(image) : modules) {
                write(image, module, output);
            }
        }
    }

    private static void write(Path image, Path folder, DataOutputStream output) throws IOException {
        List<Path> files = new ArrayList<>();
        try (Stream<Path> all = Files.walk(folder)) {
            all.forEach(files::add);
        }
        for (Path file : files) {
            String name = image.relativize(file).toString();
            // A module's description is no class, and nothing can link it.
            if (name.endsWith(ENDING) && !name.endsWith("/module-info.class")) {
                byte[] bytes = Files.readAllBytes(file);
                output.writeUTF(name.substring(0, name.length() - ENDING.length()));
                output.writeInt(bytes.length);
                output.write(bytes);
            }
        }
    }
}
