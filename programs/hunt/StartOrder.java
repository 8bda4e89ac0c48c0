// One thread uses what another one sets. Which of them comes first is nobody's business but theirs, so that it also fails if nobody is interrupted.
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
