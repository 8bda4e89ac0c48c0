// Inner classes refer to their outer objects, which are shared thereby.
// fissure: must-find racer data-race ByInnerClass$Outer.value
public class ByInnerClass {
    static class Outer {
        int value;

        class Middle {
            class Inner implements Runnable {
                @Override
                public void run() {
                    value++;
                }
            }
        }
    }

    public static void main(String[] args) throws InterruptedException {
        Outer outer = new Outer();
        Outer.Middle middle = outer.new Middle();
        Thread thread = new Thread(middle.new Inner());
        thread.start();
        outer.value++;
        thread.join();
        System.out.println("done");
    }
}
