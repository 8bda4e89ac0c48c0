// Two threads call update and then digest on one MessageDigest without a lock: the bytes of both are mixed and the result is wrong.
// fissure: must-be-bug failure SharedDigest.check
// fissure: program-exit 0
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

public class SharedDigest {
    private static final MessageDigest DIGEST = create();

    static MessageDigest create() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (java.security.NoSuchAlgorithmException error) {
            throw new AssertionError(error);
        }
    }

    static void check(String text) {
        byte[] expected = create().digest(text.getBytes(StandardCharsets.US_ASCII));
        DIGEST.update(text.getBytes(StandardCharsets.US_ASCII));
        if (!Arrays.equals(DIGEST.digest(), expected)) {
            throw new IllegalStateException("wrong check sum of " + text);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(() -> check("first"));
        Thread second = new Thread(() -> check("second"));
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
