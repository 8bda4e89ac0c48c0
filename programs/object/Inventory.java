// A stock of items. A reservation reads the number of items and writes it back in two steps, so that two reservations may get the same item.
// The fault shows only if a reservation runs beside another one.
// fissure: non-atomic reserve
// fissure: atomic available restock
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

public class Inventory {
    private final Map<String, Integer> stock = new ConcurrentHashMap<>();

    public void restock(String item, int amount) {
        stock.merge(item, amount, Integer::sum);
    }

    public boolean reserve(String item) {
        int left = stock.getOrDefault(item, 0);
        if (left == 0) {
            return false;
        }
        stock.put(item, left - 1);
        return true;
    }

    public int available(String item) {
        return stock.getOrDefault(item, 0);
    }
}
