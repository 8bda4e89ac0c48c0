// The JVM checks every JNI call: Fissure's own must give it no reason to complain.
// fissure: java -Xcheck:jni
// fissure: must-find racer data-race CheckedJni.count
// fissure: must-find eraser data-race CheckedJni.count
public class CheckedJni {
    private static int count;
    private static int locked;

    static void work() {
        for (int i = 0; i < 1000; i++) {
            count++;
            synchronized (CheckedJni.class) {
                locked++;
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread first = new Thread(CheckedJni::work);
        Thread second = new Thread(CheckedJni::work);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("done");
    }
}
