// The correct twin of SharedDigest: a lock is held from update to digest.
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;

public class SharedDigestFixed {
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
        byte[] found;
        synchronized (DIGEST) {
            DIGEST.update(text.getBytes(StandardCharsets.US_ASCII));
            found = DIGEST.digest();
        }
        if (!Arrays.equals(found, expected)) {
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
