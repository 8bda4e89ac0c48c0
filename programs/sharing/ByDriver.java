// A driver registered with the JDK's DriverManager can be reached by all threads, and so can its fields.
// fissure: must-find racer data-race ByDriver$Fake.asked
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.sql.SQLException;
import java.util.Properties;
import java.util.logging.Logger;

public class ByDriver {
    static class Fake implements Driver {
        int asked;

        @Override
        public Connection connect(String url, Properties info) {
            asked++;
            return null;
        }

        @Override
        public boolean acceptsURL(String url) {
            asked++;
            return true;
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return null;
        }
    }

    public static void main(String[] args) throws Exception {
        Fake driver = new Fake();
        DriverManager.registerDriver(driver);
        Thread thread = new Thread(() -> {
            try {
                DriverManager.getDriver("fake:").acceptsURL("fake:");
            } catch (SQLException exception) {
                throw new IllegalStateException(exception);
            }
        });
        thread.start();
        driver.asked++;
        thread.join();
        System.out.println("done");
    }
}
