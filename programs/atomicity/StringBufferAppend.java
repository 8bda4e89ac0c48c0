// The example of the Atomizer paper on the JDK's own class: append reads the length of its argument and later its characters,
// and another thread can change the argument between the two.
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
