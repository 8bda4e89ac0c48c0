// Loads and links, without initializing them, all classes that a file names, one on each line, so that the JVM verifies
// each of them. Prints a line for every class that could not be linked (what became of it, its name and why, with tabs
// between), and in the end how many could.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

public class LinkAll {
    public static void main(String[] args) throws IOException {
        ClassLoader loader = ClassLoader.getSystemClassLoader();
        int linked = 0;
        for (String name : Files.readAllLines(Path.of(args[0]))) {
            try {
                // Asking for the declared methods links the class.
                Class.forName(name, false, loader).getDeclaredMethods();
                linked++;
            } catch (NoClassDefFoundError | ClassNotFoundException error) {
                // Some classes refer to others that this JVM does not have.
                print("incomplete", name, error);
            } catch (Throwable error) {
                print("refused", name, error);
            }
        }
        System.out.println("linked\t" + linked);
    }

    private static void print(String what, String name, Throwable error) {
        // The message of the verifier ends in a dump of the code, over many lines.
        String message = error.toString().split("Current Frame:", 2)[0].replaceAll("\\s+", " ").trim();
        System.out.println(what + "\t" + name + "\t" + message);
    }
}
