// A server with a virtual thread for each connection counts its requests without a lock.
// fissure: release 21
// fissure: must-be-bug failure VirtualServer.main
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

public class VirtualServer {
    private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();
    private static int requests;

    static void answer(Socket connection) {
        try (connection) {
            int number = connection.getInputStream().read();
            requests++;
            connection.getOutputStream().write(number + 1);
        } catch (IOException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    static void serve(ServerSocket server) {
        try {
            for (int i = 0; i < 2; i++) {
                Socket connection = server.accept();
                Thread.startVirtualThread(() -> answer(connection));
            }
        } catch (IOException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    static int ask(int port, int number) throws IOException {
        try (Socket connection = new Socket(LOOPBACK, port)) {
            connection.getOutputStream().write(number);
            return connection.getInputStream().read();
        }
    }

    public static void main(String[] args) throws Exception {
        try (ServerSocket server = new ServerSocket(0, 2, LOOPBACK);
                ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            int port = server.getLocalPort();
            Thread.ofVirtual().name("server").start(() -> serve(server));
            Future<Integer> first = clients.submit(() -> ask(port, 1));
            Future<Integer> second = clients.submit(() -> ask(port, 2));
            if (first.get() != 2 || second.get() != 3) {
                throw new IllegalStateException("wrong answers");
            }
        }
        if (requests != 2) {
            throw new IllegalStateException("requests: " + requests);
        }
    }
}
