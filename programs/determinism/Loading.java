// Classes are loaded, initialized and linked by several threads at once, and by reflection.
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

public class Loading {
    private static final List<String> LOG = Collections.synchronizedList(new ArrayList<>());

    static class First {
        static final Object VALUE = made("first");
    }

    static class Second {
        static final Object VALUE = made("second");

        synchronized void one() {}

        synchronized void two() {}

        synchronized void three() {}
    }

    interface Greeter {
        String greet(String name);
    }

    private static Object made(String name) {
        LOG.add(name + " initialized by " + Thread.currentThread().getName());
        return new Object();
    }

    public static void main(String[] args) throws Exception {
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            int number = i;
            Thread thread = new Thread(() -> {
                Object value = number % 2 == 0 ? First.VALUE : Second.VALUE;
                Supplier<String> words = () -> String.format("%d of %s", number, value != null);
                LOG.add(words.get() + " " + Stream.of(3, 1, 2).sorted().map(n -> n + "," + number)
                        .collect(Collectors.joining(";")));
                Greeter greeter = (Greeter) Proxy.newProxyInstance(Loading.class.getClassLoader(),
                        new Class<?>[] {Greeter.class}, (proxy, method, arguments) -> "hello " + arguments[0]);
                LOG.add(greeter.greet("thread " + number));
                Object lock = new Object();
                synchronized (lock) {
                    LOG.add("locked " + lock.hashCode());
                }
            }, "loader-" + i);
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        for (Method method : Second.class.getDeclaredMethods()) {
            LOG.add(method.getName());
        }
        LOG.forEach(System.out::println);
    }
}
