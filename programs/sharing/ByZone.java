// The program's time zone is the default one, so the calendars of all threads refer to it.
// fissure: must-find racer data-race ByZone$Box.value
import java.util.Calendar;
import java.util.SimpleTimeZone;
import java.util.TimeZone;

public class ByZone {
    static class Box {
        int value;
    }

    static class Zone extends SimpleTimeZone {
        private static final long serialVersionUID = 1;
        final transient Box box = new Box();

        Zone() {
            super(0, "own");
        }
    }

    static void use() {
        ((Zone) Calendar.getInstance().getTimeZone()).box.value++;
    }

    public static void main(String[] args) throws InterruptedException {
        TimeZone.setDefault(new Zone());
        Thread thread = new Thread(ByZone::use);
        thread.start();
        use();
        thread.join();
        System.out.println("done");
    }
}
