// The object passes through a list, a map, an iterator and a queue, all generic.
// fissure: must-find racer data-race ByCollections$Box.value
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class ByCollections {
    static class Box {
        int value;
    }

    public static void main(String[] args) throws InterruptedException {
        List<Box> list = new ArrayList<>();
        list.add(new Box());
        Map<String, List<Box>> map = new HashMap<>();
        map.computeIfAbsent("a", key -> new ArrayList<>()).addAll(list);
        ArrayDeque<Box> queue = new ArrayDeque<>();
        for (Map.Entry<String, List<Box>> entry : map.entrySet()) {
            entry.getValue().stream().filter(box -> box.value == 0).forEach(queue::add);
        }
        List<Box> view = Collections.unmodifiableList(new ArrayList<>(queue));
        Thread thread = new Thread(() -> view.iterator().next().value++);
        thread.start();
        list.get(0).value++;
        thread.join();
        System.out.println("done");
    }
}
