// Virtual threads bind one session to a scoped value. A scoped value is immutable, but the session is not: the threads count
// its requests without a lock.
// fissure: release 25
// fissure: must-be-bug failure VirtualSession.main
public class VirtualSession {
    private static final ScopedValue<Session> CURRENT = ScopedValue.newInstance();

    static final class Session {
        private int requests;

        void count() {
            requests++;
        }
    }

    static void handle() {
        CURRENT.get().count();
    }

    public static void main(String[] args) throws InterruptedException {
        Session session = new Session();
        Runnable request = () -> ScopedValue.where(CURRENT, session).run(VirtualSession::handle);
        Thread first = Thread.ofVirtual().name("request-", 1).start(request);
        Thread second = Thread.ofVirtual().name("request-", 2).start(request);
        first.join();
        second.join();
        if (session.requests != 2) {
            throw new IllegalStateException("requests: " + session.requests);
        }
    }
}
