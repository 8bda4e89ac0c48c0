// A server on loopback counts its requests without a lock: the handlers of two connections read the same count, and one request is lost.
// Threads that wait for a connection or for input hand over at once.
// fissure: must-be-bug failure LoopbackServer.main
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;

public class LoopbackServer {
    private static final int REQUESTS = 3;
    private static volatile int served;

    public static void main(String[] arguments) throws Exception {
        try (ServerSocket server = new ServerSocket(0, REQUESTS, InetAddress.getLoopbackAddress())) {
            Thread[] clients = new Thread[REQUESTS];
            for (int i = 0; i < REQUESTS; i++) {
                clients[i] = new Thread(() -> request(server.getLocalPort()));
                clients[i].start();
            }
            Thread[] handlers = new Thread[REQUESTS];
            for (int i = 0; i < REQUESTS; i++) {
                Socket socket = server.accept();
                handlers[i] = new Thread(() -> handle(socket));
                handlers[i].start();
            }
            for (int i = 0; i < REQUESTS; i++) {
                clients[i].join();
                handlers[i].join();
            }
        }
        if (served != REQUESTS) {
            throw new IllegalStateException("served " + served);
        }
        System.out.println("done");
    }

    private static void handle(Socket socket) {
        try (socket) {
            String line = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
            int count = served;
            served = count + 1;
            new PrintStream(socket.getOutputStream(), true).println(line);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    private static void request(int port) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5_000);
            new PrintStream(socket.getOutputStream(), true).println("hello");
            String answer = new BufferedReader(new InputStreamReader(socket.getInputStream())).readLine();
            if (!"hello".equals(answer)) {
                throw new IllegalStateException("answered " + answer);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
