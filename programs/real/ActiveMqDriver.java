// A broker in the same JVM: two producers and two consumers of one queue, by the in-memory transport.
import java.util.concurrent.atomic.AtomicInteger;
import javax.jms.Connection;
import javax.jms.MessageConsumer;
import javax.jms.MessageProducer;
import javax.jms.Session;
import org.apache.activemq.ActiveMQConnectionFactory;

public final class ActiveMqDriver {
    private static final int EACH = 4;
    private static final AtomicInteger RECEIVED = new AtomicInteger();

    private static void send(ActiveMQConnectionFactory factory) throws Exception {
        Connection connection = factory.createConnection();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageProducer producer = session.createProducer(session.createQueue("orders"));
        for (int i = 0; i < EACH; i++) {
            producer.send(session.createTextMessage("order " + i));
        }
        connection.close();
    }

    private static void receive(ActiveMQConnectionFactory factory) throws Exception {
        Connection connection = factory.createConnection();
        connection.start();
        Session session = connection.createSession(false, Session.AUTO_ACKNOWLEDGE);
        MessageConsumer consumer = session.createConsumer(session.createQueue("orders"));
        while (RECEIVED.get() < 2 * EACH) {
            if (consumer.receive(200L) != null) {
                RECEIVED.incrementAndGet();
            }
        }
        connection.close();
    }

    private interface Work {
        void run() throws Exception;
    }

    private static Thread start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }

    public static void main(String[] arguments) throws Exception {
        ActiveMQConnectionFactory factory =
                new ActiveMQConnectionFactory("vm://localhost?broker.persistent=false&broker.useJmx=false");
        Connection keeper = factory.createConnection();
        keeper.start();
        Thread[] threads = {start(() -> send(factory)), start(() -> send(factory)), start(() -> receive(factory)),
            start(() -> receive(factory))};
        for (Thread thread : threads) {
            thread.join();
        }
        keeper.close();
        System.out.println("received " + RECEIVED);
    }
}
