// Four threads borrow from a pool of two objects, and count what they borrowed under the object's lock.
import org.apache.commons.pool2.BasePooledObjectFactory;
import org.apache.commons.pool2.PooledObject;
import org.apache.commons.pool2.impl.DefaultPooledObject;
import org.apache.commons.pool2.impl.GenericObjectPool;

public final class PoolDriver {
    static final class Printer {
        private int pages;

        synchronized void print() {
            pages++;
        }

        synchronized int pages() {
            return pages;
        }
    }

    private static final class Printers extends BasePooledObjectFactory<Printer> {
        private int pages;

        @Override
        public Printer create() {
            return new Printer();
        }

        @Override
        public PooledObject<Printer> wrap(Printer printer) {
            return new DefaultPooledObject<>(printer);
        }

        @Override
        public synchronized void destroyObject(PooledObject<Printer> printer) {
            pages += printer.getObject().pages();
        }

        synchronized int pages() {
            return pages;
        }
    }

    public static void main(String[] arguments) throws Exception {
        Printers printers = new Printers();
        GenericObjectPool<Printer> pool = new GenericObjectPool<>(printers);
        pool.setMaxTotal(2);
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            threads[i] = new Thread(() -> {
                try {
                    for (int k = 0; k < 10; k++) {
                        Printer printer = pool.borrowObject();
                        printer.print();
                        pool.returnObject(printer);
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
        pool.close();
        System.out.println("pages " + printers.pages());
    }
}
