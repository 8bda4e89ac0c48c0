// Code outside of the scope spins on volatile variables until the application answers: a field that it declares, one that it inherits,
// a variable handle, and a park with the shortest time-out. The scheduler sees that and lets other threads go first. The application
// counts without a lock.
// fissure: hunt --scope SpinningLibrary
// fissure: must-be-bug failure SpinningLibrary.main
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

public class SpinningLibrary {
    private static volatile int count;

    static class Base {
        protected volatile int inherited;
    }

    static final class Gate extends Base {
        private static final VarHandle HANDLE;
        private volatile int declared;
        private int handled;
        private volatile int polled;

        static {
            try {
                HANDLE = MethodHandles.lookup().findVarHandle(Gate.class, "handled", int.class);
            } catch (ReflectiveOperationException error) {
                throw new ExceptionInInitializerError(error);
            }
        }

        void await(int value) {
            while (declared < value) {}
            while (inherited < value) {}
            while ((int) HANDLE.getAcquire(this) < value) {}
            while (polled < value) {
                LockSupport.parkNanos(1);
            }
        }

        void open(int value) {
            declared = value;
            inherited = value;
            HANDLE.setRelease(this, value);
            polled = value;
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Gate forth = new Gate();
        Gate back = new Gate();
        Thread answering = new Thread(() -> {
            for (int k = 1; k <= 3; k++) {
                forth.await(k);
                add();
                back.open(k);
            }
        });
        Thread other = new Thread(SpinningLibrary::add);
        answering.start();
        other.start();
        for (int k = 1; k <= 3; k++) {
            forth.open(k);
            back.await(k);
        }
        answering.join();
        other.join();
        if (count != 4) {
            throw new IllegalStateException("count " + count);
        }
        System.out.println("done");
    }

    private static void add() {
        int before = count;
        count = before + 1;
    }
}
