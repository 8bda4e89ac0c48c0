// A service provider, whose class name occurs in no code, stores the object that it is given.
// fissure: service ByService$Plugin ByService$Provider
// fissure: must-find racer data-race ByService$Box.value
import java.util.ServiceLoader;

public class ByService {
    public static class Box {
        int value;
    }

    public interface Plugin {
        void use(Box box);
    }

    public static class Provider implements Plugin {
        @Override
        public void use(Box box) {
            kept = box;
        }
    }

    static Box kept;

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        for (Plugin plugin : ServiceLoader.load(Plugin.class)) {
            plugin.use(box);
        }
        Thread thread = new Thread(() -> kept.value++);
        thread.start();
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
