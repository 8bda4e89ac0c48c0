// One thread uses a field that another sets; nothing orders them, so it can fail even without a preemption inside either thread.
// fissure: must-confirm failure StartOrder.greet
// fissure: program-exit 0
// fissure: hunt --reference-runs 10
public class StartOrder {
    private String name;

    void greet() {
        System.out.println("hello " + name.trim());
    }

    public static void main(String[] args) throws InterruptedException {
        StartOrder greeting = new StartOrder();
        Thread setter = new Thread(() -> greeting.name = "you");
        Thread greeter = new Thread(greeting::greet);
        setter.start();
        greeter.start();
        setter.join();
        greeter.join();
    }
}
