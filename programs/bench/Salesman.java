import java.util.ArrayDeque;

// The travelling salesman by branch and bound: threads take partial tours from a shared pool and share the best length.
public class Salesman {
    private static final int CITIES = 13;

    private final int[][] distance = new int[CITIES][CITIES];
    private final ArrayDeque<int[]> pool = new ArrayDeque<>();
    private int best = Integer.MAX_VALUE;

    Salesman(long seed) {
        java.util.Random random = new java.util.Random(seed);
        int[] x = new int[CITIES];
        int[] y = new int[CITIES];
        for (int i = 0; i < CITIES; i++) {
            x[i] = random.nextInt(1000);
            y[i] = random.nextInt(1000);
        }
        for (int i = 0; i < CITIES; i++) {
            for (int j = 0; j < CITIES; j++) {
                distance[i][j] = (int) Math.hypot(x[i] - x[j], y[i] - y[j]);
            }
        }
        for (int second = 1; second < CITIES; second++) {
            for (int third = 1; third < CITIES; third++) {
                if (second != third) {
                    pool.add(new int[] {0, second, third});
                }
            }
        }
    }

    private synchronized int[] take() {
        return pool.poll();
    }

    private synchronized int best() {
        return best;
    }

    private synchronized void found(int length) {
        if (length < best) {
            best = length;
        }
    }

    private int rest(boolean[] visited) {
        int sum = 0;
        for (int i = 0; i < CITIES; i++) {
            if (!visited[i]) {
                int least = Integer.MAX_VALUE;
                int[] row = distance[i];
                for (int j = 0; j < CITIES; j++) {
                    if (j != i && row[j] < least) {
                        least = row[j];
                    }
                }
                sum += least;
            }
        }
        return sum;
    }

    private void search(int[] tour, boolean[] visited, int depth, int length) {
        if (depth == CITIES) {
            found(length + distance[tour[depth - 1]][0]);
            return;
        }
        if (length + rest(visited) >= best()) {
            return;
        }
        int last = tour[depth - 1];
        for (int next = 1; next < CITIES; next++) {
            if (!visited[next]) {
                visited[next] = true;
                tour[depth] = next;
                search(tour, visited, depth + 1, length + distance[last][next]);
                visited[next] = false;
            }
        }
    }

    void work() {
        int[] tour = new int[CITIES];
        for (int[] start = take(); start != null; start = take()) {
            boolean[] visited = new boolean[CITIES];
            int length = 0;
            for (int i = 0; i < start.length; i++) {
                tour[i] = start[i];
                visited[start[i]] = true;
                length += i == 0 ? 0 : distance[start[i - 1]][start[i]];
            }
            search(tour, visited, start.length, length);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        int threads = Kernel.threads(args);
        int[] expected = new int[2];
        for (int seed = 0; seed < 2; seed++) {
            Salesman alone = new Salesman(seed);
            alone.work();
            expected[seed] = alone.best;
        }
        Kernel.measure(args, scale -> {
            Salesman last = null;
            for (int repeat = 0; repeat < 2 * scale; repeat++) {
                last = new Salesman(repeat % 2);
                Salesman current = last;
                Kernel.parts(threads, t -> current.work());
                Kernel.check(last.best == expected[repeat % 2], "the tour is not the shortest");
            }
            return last;
        });
    }
}
