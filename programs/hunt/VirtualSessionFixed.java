// Virtual threads bind one session to a scoped value, and count its requests under a lock.
// fissure: release 25
public class VirtualSessionFixed {
    private static final ScopedValue<Session> CURRENT = ScopedValue.newInstance();

    static final class Session {
        private int requests;

        synchronized void count() {
            requests++;
        }
    }

    static void handle() {
        CURRENT.get().count();
    }

    public static void main(String[] args) throws InterruptedException {
        Session session = new Session();
        Runnable request = () -> ScopedValue.where(CURRENT, session).run(VirtualSessionFixed::handle);
        Thread first = Thread.ofVirtual().name("request-", 1).start(request);
        Thread second = Thread.ofVirtual().name("request-", 2).start(request);
        first.join();
        second.join();
        if (session.requests != 2) {
            throw new IllegalStateException("requests: " + session.requests);
        }
    }
}
