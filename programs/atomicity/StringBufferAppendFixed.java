// The correct twin: the appending thread holds the argument's lock, so no other thread can change it.
public class StringBufferAppendFixed {
    static final StringBuffer shared = new StringBuffer("abc");

    static void append() {
        synchronized (shared) {
            new StringBuffer().append(shared);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(StringBufferAppendFixed::append);
        Thread other = new Thread(() -> shared.setLength(0));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
