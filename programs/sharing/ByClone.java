// A shallow copy shares the objects to which the original refers.
// fissure: must-find racer data-race ByClone$Box.value
public class ByClone {
    static class Box {
        int value;
    }

    static class Crate implements Cloneable {
        final Box box = new Box();

        @Override
        public Crate clone() throws CloneNotSupportedException {
            return (Crate) super.clone();
        }
    }

    public static void main(String[] args) throws Exception {
        Crate crate = new Crate();
        Crate copy = crate.clone();
        Thread thread = new Thread(() -> copy.box.value++);
        thread.start();
        crate.box.value++;
        thread.join();
        System.out.println("done");
    }
}
