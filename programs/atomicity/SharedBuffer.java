// A method appends twice to a StringBuffer that another thread clears.
// fissure: must-find atomizer atomicity-violation SharedBuffer.line
public class SharedBuffer {
    private final StringBuffer buffer = new StringBuffer();

    synchronized String line(String name) {
        StringBuffer text = buffer;
        text.append(name);
        text.append(';');
        return text.toString();
    }

    public static void main(String[] args) throws InterruptedException {
        SharedBuffer lines = new SharedBuffer();
        Thread one = new Thread(() -> lines.line("a"));
        Thread other = new Thread(() -> lines.buffer.setLength(0));
        one.start();
        other.start();
        one.join();
        other.join();
        System.out.println("done");
    }
}
