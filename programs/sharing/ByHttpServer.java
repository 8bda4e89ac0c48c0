// Threads of the JDK's HTTP server call the program's handler.
// fissure: release 17
// fissure: must-find racer data-race ByHttpServer$Hits.count
import com.sun.net.httpserver.HttpServer;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;

public class ByHttpServer {
    static class Hits {
        int count;
    }

    public static void main(String[] args) throws Exception {
        Hits hits = new Hits();
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            hits.count++;
            exchange.sendResponseHeaders(204, -1);
            exchange.close();
        });
        server.start();
        hits.count++;
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.getAddress().getPort())) {
            socket.getOutputStream().write("GET / HTTP/1.0\r\n\r\n".getBytes());
            InputStream answer = socket.getInputStream();
            while (answer.read() >= 0) {
                hits.count++;
            }
        }
        server.stop(0);
        System.out.println("done");
    }
}
