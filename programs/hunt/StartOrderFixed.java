// The twin of StartOrder: one thread waits for the other.
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
