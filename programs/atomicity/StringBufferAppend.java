// The example of the Atomizer paper on the JDK's own class: append asks its argument for its length and then for its characters.
// fissure: must-find atomizer atomicity-violation java.lang.StringBuffer.append
public class StringBufferAppend {
    static final StringBuffer shared = new StringBuffer("abc");

    public static void main(String[] args) throws InterruptedException {
        Thread appender = new Thread(() -> {
            StringBuffer own = new StringBuffer();
            own.append(shared);
        });
        Thread trimmer = new Thread(() -> shared.setLength(0));
        appender.start();
        trimmer.start();
        appender.join();
        trimmer.join();
        System.out.println("done");
    }
}
