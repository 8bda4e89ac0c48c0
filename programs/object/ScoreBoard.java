// A score board whose update reads and writes in two locked steps, and whose forEach reads one score after the other.
// fissure: object --core put,get
// fissure: non-atomic update forEach copyInto
// fissure: atomic firstOver
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

public class ScoreBoard {
    private final Map<Integer, Integer> scores = new TreeMap<>();

    public synchronized Integer put(int player, int score) {
        return scores.put(player, score);
    }

    public synchronized Integer get(int player) {
        return scores.get(player);
    }

    public Integer update(int player, UnaryOperator<Integer> change) {
        Integer changed = change.apply(get(player));
        put(player, changed);
        return changed;
    }

    public void forEach(BiConsumer<Integer, Integer> consumer) {
        for (int player = 0; player < 3; player++) {
            Integer score = get(player);
            if (score != null) {
                consumer.accept(player, score);
            }
        }
    }

    public void copyInto(Integer[] copy) {
        for (int player = 0; player < copy.length; player++) {
            copy[player] = get(player);
        }
    }

    public synchronized Integer firstOver(Predicate<Integer> limit) {
        return scores.values().stream().filter(limit).findFirst().orElse(null);
    }
}
