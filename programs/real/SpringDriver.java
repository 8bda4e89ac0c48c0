// A Spring Boot web application that two clients ask.
package driver;

import java.net.HttpURLConnection;
import java.net.URI;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.context.ServletWebServerApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

@SpringBootApplication
@RestController
public class SpringDriver {
    private static final AtomicInteger ANSWERS = new AtomicInteger();

    @GetMapping("/")
    public String hello() {
        return "hello";
    }

    private static void ask(int port) {
        try {
            HttpURLConnection connection =
                    (HttpURLConnection) URI.create("http://127.0.0.1:" + port + "/").toURL().openConnection();
            if (connection.getResponseCode() == 200) {
                ANSWERS.incrementAndGet();
            }
        } catch (java.io.IOException e) {
            throw new IllegalStateException(e);
        }
    }

    public static void main(String[] arguments) throws Exception {
        SpringApplication application = new SpringApplication(SpringDriver.class);
        application.setDefaultProperties(Map.of("server.port", "0", "spring.main.banner-mode", "off",
                "logging.level.root", "off", "server.address", "127.0.0.1"));
        ConfigurableApplicationContext context = application.run();
        int port = ((ServletWebServerApplicationContext) context).getWebServer().getPort();
        Thread[] clients = new Thread[2];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = new Thread(() -> {
                for (int k = 0; k < 3; k++) {
                    ask(port);
                }
            });
            clients[i].start();
        }
        for (Thread client : clients) {
            client.join();
        }
        context.close();
        System.out.println("answers " + ANSWERS);
    }
}
