// An embedded Tomcat answers 12 requests of three clients on loopback.
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Files;
import java.util.concurrent.atomic.AtomicInteger;
import javax.servlet.http.HttpServlet;
import javax.servlet.http.HttpServletRequest;
import javax.servlet.http.HttpServletResponse;
import org.apache.catalina.Context;
import org.apache.catalina.startup.Tomcat;

public final class TomcatDriver {
    private static final AtomicInteger ANSWERS = new AtomicInteger();

    private static final class Hello extends HttpServlet {
        private static final long serialVersionUID = 1L;

        @Override
        protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
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
        String folder = Files.createTempDirectory("tomcat").toString();
        Tomcat tomcat = new Tomcat();
        tomcat.setBaseDir(folder);
        tomcat.setPort(0);
        tomcat.setSilent(true);
        Context context = tomcat.addContext("", folder);
        Tomcat.addServlet(context, "hello", new Hello());
        context.addServletMappingDecoded("/", "hello");
        tomcat.start();
        int port = tomcat.getConnector().getLocalPort();
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
        tomcat.stop();
        tomcat.destroy();
        System.out.println("answers " + ANSWERS);
    }
}
