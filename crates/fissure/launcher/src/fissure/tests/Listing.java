package fissure.tests;

import java.io.PrintStream;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;

/** Writes what was found, one line each, with tabs between its parts. */
final class Listing {
    private final PrintStream lines;
    private final Set<String> classes = new HashSet<>();

    Listing(PrintStream lines) {
        this.lines = lines;
    }

    /** A framework is there. */
    void framework(String name) {
        line("framework", name);
    }

    /** A test that can be executed alone. */
    void test(String framework, String id, String type, String method, String name, Collection<String> tags) {
        classes.add(type);
        line("test", framework, id, type, method, name, String.join(" ", tags));
    }

    /** Whether a framework has found tests in this class. */
    boolean hasTestsOf(String type) {
        return classes.contains(type);
    }

    /** A class cannot be used. */
    void problem(String type, Throwable error) {
        line("problem", type, error.toString());
    }

    /** A framework cannot be used. */
    void failure(String framework, Throwable error) {
        Throwable cause = error;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        line("failure", framework, cause.toString());
    }

    private void line(String... parts) {
        StringBuilder line = new StringBuilder();
        for (String part : parts) {
            if (line.length() > 0) {
                line.append('\t');
            }
            line.append(part.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r"));
        }
        lines.print(line.append('\n'));
    }
}
