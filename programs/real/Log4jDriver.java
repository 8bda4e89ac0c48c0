// Three threads log through an asynchronous appender.
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.Logger;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilder;
import org.apache.logging.log4j.core.config.builder.api.ConfigurationBuilderFactory;
import org.apache.logging.log4j.core.config.builder.impl.BuiltConfiguration;

public final class Log4jDriver {
    public static void main(String[] arguments) throws InterruptedException {
        ConfigurationBuilder<BuiltConfiguration> builder = ConfigurationBuilderFactory.newConfigurationBuilder();
        builder.add(builder.newAppender("null", "Null"));
        builder.add(builder.newAppender("async", "Async").addComponent(builder.newAppenderRef("null")));
        builder.add(builder.newRootLogger(Level.INFO).add(builder.newAppenderRef("async")));
        LoggerContext context = Configurator.initialize(builder.build());
        Logger logger = LogManager.getLogger("driver");
        Thread[] threads = new Thread[3];
        for (int i = 0; i < threads.length; i++) {
            int own = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 10; k++) {
                    logger.info("message {} of {}", k, own);
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        context.close();
        System.out.println("logged");
    }
}
