// Virtual threads of every origin, as the program sees them: names, groups, states, thread-local values, interrupts, sockets and channels.
// fissure: release 21
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;

public class VirtualThreads {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

    interface Body {
        void run() throws Exception;
    }

    static synchronized void print(Object text) {
        System.out.println(text);
    }

    /** Starts a virtual thread that prints the exception which ends it. */
    static Thread start(String name, Body body) {
        return Thread.ofVirtual().name(name).start(() -> {
            try {
                body.run();
            } catch (Exception exception) {
                print(name + ": " + exception + ", interrupted: " + Thread.currentThread().isInterrupted());
            }
        });
    }

    /** Without the number, which other threads of the JVM take part in, and without the carrier. */
    static String describe(Thread thread) {
        return thread.toString().replaceAll("#\\d+", "#N").replaceAll("@.*", "");
    }

    static void showThread() {
        Thread self = Thread.currentThread();
        print(self.isVirtual() + " " + self.getName() + " " + self.getThreadGroup().getName() + " " + self.getPriority()
                + " " + self.isDaemon() + " " + describe(self));
        Thread.onSpinWait();
        Thread.yield();
    }

    static void showOrigins() throws Exception {
        Thread unstarted = Thread.ofVirtual().name("unstarted-", 3).unstarted(VirtualThreads::showThread);
        print(unstarted.getState());
        unstarted.start();
        unstarted.join();
        print(unstarted.getState());
        Thread.startVirtualThread(VirtualThreads::showThread).join();
        ThreadFactory factory = Thread.ofVirtual().name("made-", 0).factory();
        List<Future<String>> names = new ArrayList<>();
        try (ExecutorService executor = Executors.newThreadPerTaskExecutor(factory)) {
            for (int i = 0; i < 3; i++) {
                names.add(executor.submit(() -> Thread.currentThread().getName()));
            }
        }
        for (Future<String> name : names) {
            print(name.get());
        }
        print(Thread.getAllStackTraces().keySet().stream().anyMatch(Thread::isVirtual));
        try {
            unstarted.setDaemon(false);
        } catch (IllegalArgumentException exception) {
            print(exception.getMessage());
        }
    }

    static void showValues() throws Exception {
        ThreadLocal<String> local = ThreadLocal.withInitial(() -> "initial");
        local.set("of main");
        InheritableThreadLocal<String> inherited = new InheritableThreadLocal<>();
        inherited.set("inherited");
        start("values", () -> print(local.get() + " " + inherited.get())).join();
    }

    static void showStates() throws Exception {
        Thread sleeping = start("sleeping", () -> Thread.sleep(100_000));
        Thread.sleep(100);
        print(sleeping.getState() + " " + describe(sleeping));
        sleeping.interrupt();
        sleeping.join();
        Object monitor = new Object();
        Thread waiting = start("waiting", () -> {
            synchronized (monitor) {
                monitor.wait();
            }
        });
        Thread.sleep(100);
        print(waiting.getState() + " " + describe(waiting));
        synchronized (monitor) {
            monitor.notifyAll();
        }
        waiting.join();
    }

    static void showSockets() throws Exception {
        ServerSocket server = new ServerSocket(0, 5, LOOPBACK);
        Thread serving = start("serving", () -> {
            while (true) {
                Socket connection = server.accept();
                start("answering", () -> {
                    connection.getOutputStream().write(connection.getInputStream().read() + 1);
                    connection.close();
                });
            }
        });
        for (int i = 0; i < 3; i++) {
            try (Socket connection = new Socket(LOOPBACK, server.getLocalPort())) {
                connection.getOutputStream().write(i);
                print(connection.getInputStream().read());
            }
        }
        Thread reading = start("reading", () -> new Socket(LOOPBACK, server.getLocalPort()).getInputStream().read());
        Thread.sleep(100);
        reading.interrupt();
        reading.join();
        serving.interrupt();
        serving.join();
        print(server.isClosed());
    }

    static void showChannels() throws Exception {
        ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress(LOOPBACK, 0));
        Thread echoing = start("echoing", () -> {
            try (SocketChannel connection = server.accept()) {
                ByteBuffer buffer = ByteBuffer.allocate(4);
                connection.read(buffer);
                connection.write(buffer.flip());
            }
        });
        start("asking", () -> {
            try (SocketChannel connection = SocketChannel.open(server.getLocalAddress())) {
                connection.write(ByteBuffer.wrap(new byte[] {7}));
                print(connection.read(ByteBuffer.allocate(4)));
            }
        }).join();
        echoing.join();
        Thread accepting = start("accepting", () -> server.accept());
        Thread.sleep(100);
        accepting.interrupt();
        accepting.join();
        print(server.isOpen());
    }

    public static void main(String[] args) throws Exception {
        showOrigins();
        showValues();
        showStates();
        showSockets();
        showChannels();
    }
}
