// Both threads get the object from a resource bundle, whose class the JDK finds by its name.
// fissure: must-find racer data-race ByBundle$Box.value
import java.util.ListResourceBundle;
import java.util.ResourceBundle;

public class ByBundle {
    static class Box {
        int value;
    }

    public static class Texts extends ListResourceBundle {
        @Override
        protected Object[][] getContents() {
            return new Object[][] {{"box", new Box()}};
        }
    }

    static void use() {
        ((Box) ResourceBundle.getBundle("ByBundle$Texts").getObject("box")).value++;
    }

    public static void main(String[] args) throws InterruptedException {
        Thread thread = new Thread(ByBundle::use);
        thread.start();
        use();
        thread.join();
        System.out.println("done");
    }
}
