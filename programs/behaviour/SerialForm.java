// Classes without a serialVersionUID of their own: the computed one, which depends on fields, methods and modifiers,
// and the bytes of a round trip are as without Fissure.
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.util.Arrays;

public class SerialForm {
    @SuppressWarnings("serial")
    static class Base implements Serializable {
        protected int level = 3;
        private transient int cache = 9;

        public synchronized int level() {
            return level + cache;
        }
    }

    @SuppressWarnings("serial")
    static class Account extends Base {
        private static int made;
        static final String NAME = "account";
        private final int[] history = {1, 2, 3};
        private String owner = "Ada";
        private double balance = 12.5;

        Account() {
            made++;
        }

        public static synchronized int made() {
            return made;
        }

        synchronized void pay(double amount) {
            balance -= amount;
        }
    }

    @SuppressWarnings("serial")
    interface Marker extends Serializable {
        int COUNT = Integer.parseInt("4");
    }

    public static void main(String[] args) throws Exception {
        for (Class<?> type : new Class<?>[] {Base.class, Account.class, Marker.class}) {
            System.out.println(type.getName() + " " + ObjectStreamClass.lookup(type).getSerialVersionUID());
        }
        Account account = new Account();
        account.pay(2.5);
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(account);
        }
        System.out.println(bytes.size() + " " + Arrays.hashCode(bytes.toByteArray()));
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            Account copy = (Account) in.readObject();
            System.out.println(copy.owner + " " + copy.balance + " " + Arrays.toString(copy.history));
            System.out.println(copy.level());
        }
    }
}
