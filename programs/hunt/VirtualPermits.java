// A semaphore admits two virtual threads at a time to a pool of two connections. Both may choose the same one, because the
// choice itself is not protected.
// fissure: release 21
// fissure: must-be-bug failure VirtualPermits.*
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

public class VirtualPermits {
    private static final Semaphore PERMITS = new Semaphore(2);
    private static final boolean[] USED = new boolean[2];
    private static final AtomicInteger[] USERS = {new AtomicInteger(), new AtomicInteger()};

    static int choose() {
        int choice = USED[0] ? 1 : 0;
        USED[choice] = true;
        return choice;
    }

    static void giveBack(int connection) {
        USED[connection] = false;
    }

    static void use() {
        PERMITS.acquireUninterruptibly();
        try {
            int connection = choose();
            if (USERS[connection].incrementAndGet() > 1) {
                throw new IllegalStateException("two threads use connection " + connection);
            }
            USERS[connection].decrementAndGet();
            giveBack(connection);
        } finally {
            PERMITS.release();
        }
    }

    public static void main(String[] args) throws Exception {
        List<Future<?>> users = new ArrayList<>();
        try (ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor()) {
            for (int i = 0; i < 3; i++) {
                users.add(executor.submit(VirtualPermits::use));
            }
        }
        for (Future<?> user : users) {
            user.get();
        }
    }
}
