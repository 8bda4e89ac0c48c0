// The correct twin: a reservation is one step of the map.
// fissure: atomic reserve available restock
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class InventoryFixed {
    private final Map<String, Integer> stock = new ConcurrentHashMap<>();

    public void restock(String item, int amount) {
        stock.merge(item, amount, Integer::sum);
    }

    public boolean reserve(String item) {
        boolean[] reserved = new boolean[1];
        stock.computeIfPresent(item, (key, left) -> {
            reserved[0] = left > 0;
            return left > 0 ? left - 1 : left;
        });
        return reserved[0];
    }

    public int available(String item) {
        return stock.getOrDefault(item, 0);
    }
}
