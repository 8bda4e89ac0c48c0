// Four threads take connections of an in-memory database from a pool of two.
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;

public final class HikariDriver {
    public static void main(String[] arguments) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:mem:pool;DB_CLOSE_DELAY=-1");
        config.setMaximumPoolSize(2);
        HikariDataSource pool = new HikariDataSource(config);
        try (Connection connection = pool.getConnection(); Statement statement = connection.createStatement()) {
            statement.execute("create table visit (id int auto_increment primary key)");
        }
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try {
                    for (int k = 0; k < 5; k++) {
                        try (Connection connection = pool.getConnection();
                                Statement statement = connection.createStatement()) {
                            statement.execute("insert into visit default values");
                        }
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
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement();
                ResultSet count = statement.executeQuery("select count(*) from visit")) {
            count.next();
            System.out.println("visits " + count.getInt(1));
        }
        pool.close();
    }
}
