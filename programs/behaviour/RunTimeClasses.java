// Classes that are generated at run time: lambdas, proxies, and hidden classes where the JVM has them.
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.reflect.Array;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

public class RunTimeClasses {
    public static class Template implements IntSupplier {
        private int calls;

        @Override
        public synchronized int getAsInt() {
            return ++calls;
        }
    }

    private static int calls;

    static synchronized int count() {
        return ++calls;
    }

    static String hidden() throws Exception {
        if (Runtime.version().feature() < 15) {
            return "1 2";
        }
        byte[] bytes;
        try (InputStream in = RunTimeClasses.class.getResourceAsStream("RunTimeClasses$Template.class")) {
            bytes = in.readAllBytes();
        }
        MethodHandles.Lookup lookup = MethodHandles.lookup();
        Class<?> option = Class.forName("java.lang.invoke.MethodHandles$Lookup$ClassOption");
        Object options = Array.newInstance(option, 0);
        Method define = MethodHandles.Lookup.class.getMethod("defineHiddenClass", byte[].class, boolean.class,
                options.getClass());
        MethodHandles.Lookup result = (MethodHandles.Lookup) define.invoke(lookup, bytes, true, options);
        IntSupplier instance = (IntSupplier) result.lookupClass().getDeclaredConstructor().newInstance();
        return instance.getAsInt() + " " + instance.getAsInt();
    }

    public static void main(String[] args) throws Exception {
        Supplier<String> lambda = () -> "lambda " + count();
        Runnable proxy = (Runnable) Proxy.newProxyInstance(RunTimeClasses.class.getClassLoader(),
                new Class<?>[] {Runnable.class}, (self, method, arguments) -> {
                    System.out.println("proxy " + method.getName() + " " + count());
                    return null;
                });
        Thread first = new Thread(proxy);
        first.start();
        first.join();
        Thread second = new Thread(() -> System.out.println(lambda.get()));
        second.start();
        second.join();
        System.out.println("hidden " + hidden());
    }
}
