// A race, then the process is killed from outside.
// fissure: program-exit 137
// fissure: java -Djdk.lang.Process.launchMechanism=VFORK
// fissure: must-find racer data-race Killed.count
// fissure: must-find eraser data-race Killed.count
public class Killed {
    private static int count;

    public static void main(String[] args) throws Exception {
        Thread first = new Thread(() -> count++);
        Thread second = new Thread(() -> count++);
        first.start();
        second.start();
        first.join();
        second.join();
        System.out.println("about to be killed");
        System.out.flush();
        String pid = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("sh", "-c", "kill -KILL " + pid).inheritIO().start().waitFor();
        Thread.sleep(60_000);
    }
}
