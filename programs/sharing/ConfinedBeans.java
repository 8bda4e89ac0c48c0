// Listeners, timestamps and shapes stay in their thread, although the JDK's code stores and calls them.
// fissure: static-fields 0
import java.awt.geom.AffineTransform;
import java.awt.geom.Path2D;
import java.beans.PropertyChangeListener;
import java.beans.PropertyChangeSupport;
import java.sql.Timestamp;

public class ConfinedBeans {
    static class Account {
        private final PropertyChangeSupport changes = new PropertyChangeSupport(this);
        private int balance;

        void deposit(int amount) {
            int before = balance;
            balance += amount;
            changes.firePropertyChange("balance", before, balance);
        }

        void watch(PropertyChangeListener listener) {
            changes.addPropertyChangeListener(listener);
        }
    }

    static class Auditor {
        int seen;
        Timestamp last;

        void attach(Account account) {
            account.watch(event -> {
                seen += (Integer) event.getNewValue();
                last = new Timestamp(seen);
            });
        }
    }

    static class Plot {
        private Path2D.Double path = new Path2D.Double();
        private int points;

        void add(double x, double y) {
            if (points++ == 0) {
                path.moveTo(x, y);
            } else {
                path.lineTo(x, y);
            }
        }

        double width() {
            path.transform(AffineTransform.getScaleInstance(2, 2));
            return path.getBounds2D().getWidth();
        }
    }

    private static void work() {
        Account account = new Account();
        Auditor auditor = new Auditor();
        auditor.attach(account);
        Plot plot = new Plot();
        for (int i = 1; i < 10; i++) {
            account.deposit(i);
            plot.add(i, account.balance);
        }
        if (auditor.last.getTime() != auditor.seen || plot.width() != 16) {
            throw new IllegalStateException(auditor.last + " " + plot.width());
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(ConfinedBeans::work);
        thread.start();
        work();
        thread.join();
        System.out.println("done");
    }
}
