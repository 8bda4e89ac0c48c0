// A Charset of the program keeps the byte array from which a string is decoded, and another thread writes to it.
// Two fields hold the array; which of them names it depends on the thread that is first.
// fissure: must-find racer data-race ByCharset*
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.CoderResult;

public class ByCharset {
    static class Own extends Charset {
        byte[] seen;

        Own() {
            super("own", new String[0]);
        }

        @Override
        public boolean contains(Charset other) {
            return false;
        }

        @Override
        public CharsetDecoder newDecoder() {
            return new CharsetDecoder(this, 1, 1) {
                @Override
                protected CoderResult decodeLoop(ByteBuffer in, CharBuffer out) {
                    seen = in.array();
                    in.position(in.limit());
                    return CoderResult.UNDERFLOW;
                }
            };
        }

        @Override
        public CharsetEncoder newEncoder() {
            throw new UnsupportedOperationException();
        }
    }

    private byte[] bytes = new byte[1];

    public static void main(String[] args) throws InterruptedException {
        new ByCharset().work();
        System.out.println("done");
    }

    private void work() throws InterruptedException {
        Own own = new Own();
        byte[] given = bytes;
        if (!new String(given, own).isEmpty()) {
            throw new IllegalStateException();
        }
        Thread thread = new Thread(() -> {
            for (int i = 0; i < 1000; i++) {
                own.seen[0]++;
            }
        });
        thread.start();
        for (int i = 0; i < 1000; i++) {
            given[0]++;
        }
        thread.join();
    }
}
