// The correct twin of StartOrder: main joins the setter before it starts the greeter.
public class StartOrderFixed {
    private String name;

    void greet() {
        System.out.println("hello " + name.trim());
    }

    public static void main(String[] args) throws InterruptedException {
        StartOrderFixed greeting = new StartOrderFixed();
        Thread setter = new Thread(() -> greeting.name = "you");
        Thread greeter = new Thread(greeting::greet);
        setter.start();
        setter.join();
        greeter.start();
        greeter.join();
    }
}
