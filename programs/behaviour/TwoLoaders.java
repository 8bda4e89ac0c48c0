// The same class, defined by two loaders, is two classes: their static fields and locks are different, and each is used by one
// thread only.
import java.io.InputStream;

public class TwoLoaders {
    public static class Plugin implements Runnable {
        private static int runs;
        private int own;

        @Override
        public void run() {
            for (int i = 0; i < 100; i++) {
                runs++;
                own++;
            }
            System.out.println(runs + own);
        }
    }

    static class Loader extends ClassLoader {
        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.equals("TwoLoaders$Plugin")) {
                return super.loadClass(name, resolve);
            }
            try (InputStream in = TwoLoaders.class.getResourceAsStream("TwoLoaders$Plugin.class")) {
                byte[] bytes = in.readAllBytes();
                return defineClass(name, bytes, 0, bytes.length);
            } catch (java.io.IOException e) {
                throw new ClassNotFoundException(name, e);
            }
        }
    }

    static Thread load() throws Exception {
        Class<?> type = new Loader().loadClass("TwoLoaders$Plugin");
        return new Thread((Runnable) type.getDeclaredConstructor().newInstance());
    }

    public static void main(String[] args) throws Exception {
        Thread first = load();
        Thread second = load();
        first.start();
        second.start();
        first.join();
        second.join();
    }
}
