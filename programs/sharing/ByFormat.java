// Another thread formats a message: the JDK calls methods of the elements of its argument array.
// fissure: must-find racer data-race ByFormat$Box.asked
// fissure: must-find racer data-race ByFormat$Part.asked
import java.util.Objects;

public class ByFormat {
    static class Box {
        int asked;

        @Override
        public String toString() {
            asked++;
            return "box";
        }
    }

    static class Part {
        int asked;

        @Override
        public int hashCode() {
            return asked++;
        }
    }

    static class Message {
        private final String format;
        private final Object[] arguments;

        Message(String format, Object... arguments) {
            this.format = format;
            this.arguments = arguments;
        }

        void say() {
            String.format(format, arguments);
        }
    }

    static class Key {
        private final Object[] parts;

        Key(Object... parts) {
            this.parts = parts;
        }

        @Override
        public int hashCode() {
            return Objects.hash(parts);
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Box box = new Box();
        Part part = new Part();
        Message message = new Message("%s", box);
        Key key = new Key(part);
        Thread one = new Thread(message::say);
        Thread other = new Thread(key::hashCode);
        one.start();
        other.start();
        box.asked++;
        part.asked++;
        one.join();
        other.join();
        System.out.println("done");
    }
}
