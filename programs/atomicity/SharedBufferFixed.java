// The rule about thread-local locks: each call has its own buffer, whose lock no other thread takes.
// fissure: rule thread-local-lock SharedBufferFixed.line
public class SharedBufferFixed {
    synchronized String line(String name) {
        StringBuffer text = new StringBuffer();
        text.append(name);
        text.append(';');
        return text.toString();
    }

    public static void main(String[] args) throws InterruptedException {
        SharedBufferFixed lines = new SharedBufferFixed();
        Thread one = new Thread(() -> lines.line("a"));
        Thread other = new Thread(() -> lines.line("b"));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
