package fissure.tests;

import java.io.File;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists the tests of a class path, or executes one of them, with the test framework that the class path has.
 *
 * <p>{@code list FILE CLASSES} writes a line for each test in the classes that the file CLASSES names. {@code run FRAMEWORK TEST} executes one
 * test; the exit code is 1 if it failed, and 3 if there is no such test. The name of a test has only printable ASCII characters: others are
 * written as in Java's source files.
 */
public final class TestMain {
    private static final int FAILED = 1;
    private static final int UNKNOWN = 3;

    private TestMain() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments[0].equals("list")) {
            list(arguments[1], Files.readAllLines(Paths.get(arguments[2]), StandardCharsets.UTF_8));
            // Code that the discovery ran may have started threads.
            Runtime.getRuntime().halt(0);
        }
        // Nothing but a call of System.exit in the test lets this hook run.
        Runnable exits = () -> System.err.println("fissure: the test ended the JVM");
        Runtime.getRuntime().addShutdownHook(new Thread(null, exits, "fissure"));
        Boolean isPassed = framework(arguments[1]).run(decoded(arguments[2]));
        if (isPassed == null) {
            System.err.println("there is no test " + arguments[2]);
        }
        // Build tools end their JVM too when all tests are done, whatever threads are left. Shutdown hooks are no part of a test: that of
        // the JDK's logging is registered only once in a JVM.
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(isPassed == null ? UNKNOWN : isPassed ? 0 : FAILED);
    }

    private static String decoded(String name) {
        StringBuilder text = new StringBuilder();
        for (int at = 0; at < name.length(); at++) {
            if (name.startsWith("\\u", at)) {
                text.append((char) Integer.parseInt(name.substring(at + 2, at + 6), 16));
                at += 5;
            } else {
                text.append(name.charAt(at));
            }
        }
        return text.toString();
    }

    private static Framework framework(String name) {
        switch (name) {
            case "platform":
                return new Platform();
            case "junit4":
                return new JUnit4();
            default:
                return new TestNg();
        }
    }

    private static void list(String file, List<String> names) throws IOException {
        PrintStream lines = new PrintStream(file, "UTF-8");
        Listing listing = new Listing(lines);
        List<Class<?>> classes = new ArrayList<>();
        for (String name : names) {
            try {
                classes.add(Class.forName(name, false, ClassLoader.getSystemClassLoader()));
            } catch (ClassNotFoundException | LinkageError error) {
                listing.problem(name, error);
            }
        }
        for (String name : new String[] {"platform", "junit4", "testng"}) {
            Framework framework = framework(name);
            try {
                if (framework.isThere()) {
                    listing.framework(name);
                    framework.list(classes, listing);
                }
            } catch (Throwable error) {
                listing.failure(name, error);
            }
        }
        lines.close();
        if (lines.checkError()) {
            throw new IOException("cannot write " + new File(file));
        }
    }
}
