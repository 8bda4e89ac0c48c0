// The output of the program on both streams is unchanged byte for byte; so are its arguments and properties.
// fissure: args first second
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

public class Output {
    public static void main(String[] args) throws Exception {
        System.out.print("no newline, ");
        System.out.printf("%d%% %s%n", 100, String.join("|", args));
        System.err.println("on stderr");
        PrintStream utf8 = new PrintStream(System.out, true, StandardCharsets.UTF_8.name());
        utf8.println("gr\u00fc\u00df \u2192 \ud83d\ude00");
        System.out.write(new byte[] {0, 1, (byte) 0xff, '\n'}, 0, 4);
        for (int i = 0; i < 2000; i++) {
            System.out.println("line " + i);
        }
        System.out.println(System.getProperty("java.class.path").isEmpty());
        System.out.println(System.getenv("JAVA_TOOL_OPTIONS"));
        System.err.print("no newline at the end");
        System.err.println();
    }
}
