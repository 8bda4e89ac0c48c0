// An exception leaves main through a synchronized method: exit code 1 and the stack trace on stderr.
// fissure: program-exit 1
public class Uncaught {
    static synchronized void fail(int depth) {
        if (depth == 0) {
            throw new IllegalStateException("nobody catches this", new RuntimeException("the cause"));
        }
        fail(depth - 1);
    }

    public static void main(String[] args) {
        System.out.println("before");
        fail(3);
    }
}
