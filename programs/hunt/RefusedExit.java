// Correct: a security manager refuses System.exit, and the program goes on to its normal end. The exit code that it asked for is
// not a failure.
public final class RefusedExit {
    private static int tasks;

    private static synchronized void work() {
        tasks++;
    }

    @SuppressWarnings("removal")
    private static void forbidExit() {
        try {
            System.setSecurityManager(new SecurityManager() {
                @Override
                public void checkExit(int status) {
                    throw new SecurityException("exit " + status);
                }

                @Override
                public void checkPermission(java.security.Permission permission) {}
            });
        } catch (UnsupportedOperationException newerJdk) {
            System.out.println("done");
            return;
        }
        try {
            System.exit(5);
        } catch (SecurityException refused) {
            System.out.println("done");
        }
    }

    public static void main(String[] arguments) throws InterruptedException {
        Thread worker = new Thread(RefusedExit::work);
        worker.start();
        work();
        forbidExit();
        worker.join();
    }
}
