// Hash maps of the program's own: each thread counts words in its own map and merges it into a shared one under a lock.
public class WordCounts {
    private static final int WORDS = 400_000;
    private static final int DISTINCT = 5_000;

    static final class Map {
        static final class Node {
            final String key;
            final int hash;
            int count;
            Node next;

            Node(String key, int hash, Node next) {
                this.key = key;
                this.hash = hash;
                this.next = next;
            }
        }

        private Node[] table = new Node[64];
        private int size;

        void add(String key, int count) {
            int hash = key.hashCode();
            Node node = table[hash & table.length - 1];
            while (node != null && (node.hash != hash || !node.key.equals(key))) {
                node = node.next;
            }
            if (node == null) {
                if (size >= table.length) {
                    grow();
                }
                int slot = hash & table.length - 1;
                node = new Node(key, hash, table[slot]);
                table[slot] = node;
                size++;
            }
            node.count += count;
        }

        private void grow() {
            Node[] larger = new Node[table.length * 2];
            for (Node node : table) {
                while (node != null) {
                    Node following = node.next;
                    int slot = node.hash & larger.length - 1;
                    node.next = larger[slot];
                    larger[slot] = node;
                    node = following;
                }
            }
            table = larger;
        }

        void addAll(Map other) {
            for (Node node : other.table) {
                for (; node != null; node = node.next) {
                    add(node.key, node.count);
                }
            }
        }

        long total() {
            long total = 0;
            for (Node node : table) {
                for (; node != null; node = node.next) {
                    total += node.count;
                }
            }
            return total;
        }
    }

    private final Map merged = new Map();

    void count(String[] words, int thread, int threads) {
        Map own = new Map();
        int seed = thread + 1;
        for (int i = 0; i < WORDS / threads; i++) {
            seed = seed * 1103515245 + 12345;
            own.add(words[(seed >>> 8) % words.length], 1);
            if (i % 20_000 == 19_999) {
                synchronized (merged) {
                    merged.addAll(own);
                }
                own = new Map();
            }
        }
        synchronized (merged) {
            merged.addAll(own);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        String[] words = new String[DISTINCT];
        for (int i = 0; i < DISTINCT; i++) {
            words[i] = "word" + i * 37;
        }
        Kernel.measure(args, scale -> {
            WordCounts last = null;
            for (int repeat = 0; repeat < 6 * scale; repeat++) {
                last = new WordCounts();
                WordCounts current = last;
                Kernel.parts(threads, t -> current.count(words, t, threads));
                Kernel.check(last.merged.total() == WORDS / threads * threads, "words are missing");
            }
            return last;
        });
    }
}
