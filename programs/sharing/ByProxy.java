// The invocation handler of a proxy starts a thread with the argument of the call.
// fissure: must-find racer data-race ByProxy$Box.value
import java.lang.reflect.Proxy;

public class ByProxy {
    static class Box {
        int value;
    }

    interface Sink {
        Thread take(Box box);
    }

    public static void main(String[] args) throws InterruptedException {
        Sink sink = (Sink) Proxy.newProxyInstance(ByProxy.class.getClassLoader(), new Class<?>[] {Sink.class},
            (proxy, method, given) -> {
                Box box = (Box) given[0];
                Thread thread = new Thread(() -> box.value++);
                thread.start();
                return thread;
            });
        Box box = new Box();
        Thread thread = sink.take(box);
        box.value++;
        thread.join();
        System.out.println("done");
    }
}
