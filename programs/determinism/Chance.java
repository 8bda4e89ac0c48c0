// All sources of random numbers in the JDK.
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

public class Chance {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());

    public static void main(String[] args) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Thread thread = new Thread(() -> {
                LOG.add("random " + new Random().nextInt(1000) + " " + Math.random());
                LOG.add("local " + ThreadLocalRandom.current().nextInt(1000));
                LOG.add("split " + new SplittableRandom().nextInt(1000));
                LOG.add("unique " + UUID.randomUUID());
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        List<Integer> shuffled = new ArrayList<>(List.of(1, 2, 3, 4, 5, 6, 7, 8));
        Collections.shuffle(shuffled);
        System.out.println(shuffled + " " + new SecureRandom().nextLong());
        LOG.forEach(System.out::println);
    }
}
