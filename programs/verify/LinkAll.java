// Loads and links, without initializing them, all classes of the modules named as arguments (or of all modules), so that
// the JVM verifies each of them. Prints how many were linked and every failure of verification.
import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

public class LinkAll {
    public static void main(String[] args) throws IOException {
        FileSystem image = FileSystems.getFileSystem(URI.create("jrt:/"));
        List<String> modules = new ArrayList<>(List.of(args));
        if (modules.isEmpty()) {
            try (Stream<Path> all = Files.list(image.getPath("/modules"))) {
                all.forEach(module -> modules.add(module.getFileName().toString()));
            }
        }
        int linked = 0;
        int absent = 0;
        int refused = 0;
        for (String module : modules) {
            for (String name : classesOf(image.getPath("/modules", module))) {
                try {
                    // Asking for the declared methods links the class.
                    Class.forName(name, false, ClassLoader.getSystemClassLoader()).getDeclaredMethods();
                    linked++;
                } catch (VerifyError | ClassFormatError | IncompatibleClassChangeError error) {
                    refused++;
                    System.out.println(name + ": " + error);
                } catch (LinkageError | ClassNotFoundException error) {
                    // Some classes refer to others that this image does not have.
                    absent++;
                }
            }
        }
        System.out.println("linked " + linked + ", refused " + refused + ", incomplete " + absent);
    }

    private static List<String> classesOf(Path module) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.walk(module)) {
            files.forEach(file -> {
                String name = module.relativize(file).toString();
                if (name.endsWith(".class") && !name.endsWith("module-info.class")) {
                    names.add(name.substring(0, name.length() - 6).replace('/', '.'));
                }
            });
        }
        return names;
    }
}
