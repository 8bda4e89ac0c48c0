// The example of the Atomizer paper on the JDK's own class: append asks its argument for its length, and later for its
// characters.
// fissure: must-find atomizer atomicity-violation java.lang.StringBuffer.append
public class StringBufferAppend {
    static final StringBuffer shared = new StringBuffer("abc");

    public static void main(String[] args) throws InterruptedException {
        Thread one = new Thread(() -> new StringBuffer().append(shared));
        Thread other = new Thread(() -> shared.setLength(0));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
