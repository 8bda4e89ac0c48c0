// The program extends AbstractPreferences; the JDK notifies its listeners of changes in a thread of its own.
// fissure: detect --order start-join
// fissure: must-find racer data-race ByPreferences$Memory.changes
// fissure: must-find racer data-race ByPreferences$Box.value
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.prefs.AbstractPreferences;

public class ByPreferences {
    static class Box {
        int value;
    }

    static class Memory extends AbstractPreferences {
        private final Map<String, String> values = new HashMap<>();
        int changes;

        Memory() {
            super(null, "");
        }

        @Override
        protected void putSpi(String key, String value) {
            values.put(key, value);
        }

        @Override
        protected String getSpi(String key) {
            return values.get(key);
        }

        @Override
        protected void removeSpi(String key) {
            values.remove(key);
        }

        @Override
        protected void removeNodeSpi() {}

        @Override
        protected String[] keysSpi() {
            return new String[0];
        }

        @Override
        protected String[] childrenNamesSpi() {
            return new String[0];
        }

        @Override
        protected AbstractPreferences childSpi(String name) {
            return null;
        }

        @Override
        protected void syncSpi() {}

        @Override
        protected void flushSpi() {}
    }

    public static void main(String[] args) throws InterruptedException {
        Memory memory = new Memory();
        Box box = new Box();
        CountDownLatch told = new CountDownLatch(1);
        memory.addPreferenceChangeListener(event -> {
            ((Memory) event.getNode()).changes++;
            box.value++;
            told.countDown();
        });
        memory.put("key", "value");
        memory.changes++;
        box.value++;
        told.await();
        System.out.println("done");
    }
}
