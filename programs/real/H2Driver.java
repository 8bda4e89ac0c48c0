// Four threads transfer money between accounts of an in-memory database, each transfer in a transaction of its own.
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;

public final class H2Driver {
    private static final String URL = "jdbc:h2:mem:bank;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000";

    private static void transfer(int from, int to) throws Exception {
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            int low = Math.min(from, to);
            int high = Math.max(from, to);
            statement.executeUpdate("update account set balance = balance + " + (low == from ? -1 : 1) + " where id = " + low);
            statement.executeUpdate("update account set balance = balance + " + (high == from ? -1 : 1) + " where id = " + high);
            connection.commit();
        }
    }

    public static void main(String[] arguments) throws Exception {
        try (Connection connection = DriverManager.getConnection(URL); Statement statement = connection.createStatement()) {
            statement.execute("create table account (id int primary key, balance int)");
            statement.execute("insert into account values (0, 100), (1, 100), (2, 100), (3, 100)");
        }
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] = new Thread(() -> {
                try {
                    for (int k = 1; k <= 6; k++) {
                        transfer(own, (own + k) % 4 == own ? (own + 1) % 4 : (own + k) % 4);
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        try (Connection connection = DriverManager.getConnection(URL);
                Statement statement = connection.createStatement();
                ResultSet sum = statement.executeQuery("select sum(balance) from account")) {
            sum.next();
            System.out.println("sum " + sum.getInt(1));
        }
    }
}
