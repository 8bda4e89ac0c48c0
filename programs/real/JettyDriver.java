// An embedded server answers 12 requests of three clients on loopback.
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.handler.AbstractHandler;

public final class JettyDriver {
    private static final AtomicInteger ANSWERS = new AtomicInteger();

    private static final class Hello extends AbstractHandler {
        @Override
        public void handle(String target, Request base, HttpServletRequest request, HttpServletResponse response)
                throws IOException {
            base.setHandled(true);
            response.getWriter().print("hello");
        }
    }

    private static void ask(int port) throws IOException {
        HttpURLConnection connection =
                (HttpURLConnection) URI.create("http://127.0.0.1:" + port + "/").toURL().openConnection();
        if (connection.getResponseCode() == 200 && connection.getInputStream().readAllBytes().length == 5) {
            ANSWERS.incrementAndGet();
        }
    }

    public static void main(String[] arguments) throws Exception {
        Server server = new Server(0);
        server.setHandler(new Hello());
        server.start();
        int port = ((ServerConnector) server.getConnectors()[0]).getLocalPort();
        Thread[] clients = new Thread[3];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = new Thread(() -> {
                try {
                    for (int k = 0; k < 4; k++) {
                        ask(port);
                    }
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            clients[i].start();
        }
        for (Thread client : clients) {
            client.join();
        }
        server.stop();
        System.out.println("answers " + ANSWERS);
    }
}
