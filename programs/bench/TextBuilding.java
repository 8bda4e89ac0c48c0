// Text: each thread builds lines character by character in its own buffer and adds them to a shared document.
public class TextBuilding {
    private static final int LINES = 60_000;

    static final class Buffer {
        private char[] chars = new char[16];
        private int length;

        Buffer append(char c) {
            if (length == chars.length) {
                char[] larger = new char[length * 2];
                for (int i = 0; i < length; i++) {
                    larger[i] = chars[i];
                }
                chars = larger;
            }
            chars[length++] = c;
            return this;
        }

        Buffer append(String text) {
            for (int i = 0; i < text.length(); i++) {
                append(text.charAt(i));
            }
            return this;
        }

        Buffer append(int number) {
            if (number >= 10) {
                append(number / 10);
            }
            return append((char) ('0' + number % 10));
        }

        int hash() {
            int hash = 0;
            for (int i = 0; i < length; i++) {
                hash = hash * 31 + chars[i];
            }
            return hash;
        }

        void clear() {
            length = 0;
        }
    }

    private final StringBuffer document = new StringBuffer();
    private long hashes;

    private synchronized void add(int hash) {
        hashes += hash;
        document.append((char) ('a' + (hash & 15)));
    }

    void work(int thread, int threads) {
        Buffer buffer = new Buffer();
        for (int line = thread; line < LINES; line += threads) {
            buffer.clear();
            buffer.append("line ").append(line).append(": the quick brown fox ").append(line * 7 % 1000);
            String text = new StringBuilder("jumps ").append(line).append(' ').append(line % 13).toString();
            add(buffer.append(text).hash());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        TextBuilding alone = new TextBuilding();
        alone.work(0, 1);
        Kernel.measure(args, scale -> {
            TextBuilding last = null;
            for (int repeat = 0; repeat < 12 * scale; repeat++) {
                last = new TextBuilding();
                TextBuilding current = last;
                Kernel.parts(threads, t -> current.work(t, threads));
                Kernel.check(last.hashes == alone.hashes, "the text is wrong");
                Kernel.check(last.document.length() == LINES, "lines are missing");
            }
            return last;
        });
    }
}
