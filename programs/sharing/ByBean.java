// Another thread queries a management bean, whose methods the JDK calls by reflection.
// fissure: must-find racer data-race ByBean$Gauge.asked
import java.lang.management.ManagementFactory;
import javax.management.MBeanServer;
import javax.management.ObjectName;

public class ByBean {
    public interface GaugeMBean {
        int getLevel();
    }

    public static class Gauge implements GaugeMBean {
        int asked;

        @Override
        public int getLevel() {
            return ++asked;
        }
    }

    public static void main(String[] args) throws Exception {
        Gauge gauge = new Gauge();
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        ObjectName name = new ObjectName("fissure:type=Gauge");
        server.registerMBean(gauge, name);
        Thread thread = new Thread(() -> {
            try {
                server.getAttribute(name, "Level");
            } catch (Exception exception) {
                throw new IllegalStateException(exception);
            }
        });
        thread.start();
        gauge.asked++;
        thread.join();
        System.out.println("done");
    }
}
