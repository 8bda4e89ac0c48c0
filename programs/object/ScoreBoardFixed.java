// The correct twin: update and forEach hold the board's lock throughout.
// fissure: object --core put,get
// fissure: atomic update forEach copyInto firstOver
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

public class ScoreBoardFixed {
    private final Map<Integer, Integer> scores = new TreeMap<>();

    public synchronized Integer put(int player, int score) {
        return scores.put(player, score);
    }

    public synchronized Integer get(int player) {
        return scores.get(player);
    }

    public synchronized Integer update(int player, UnaryOperator<Integer> change) {
        Integer changed = change.apply(get(player));
        put(player, changed);
        return changed;
    }

    public synchronized void forEach(BiConsumer<Integer, Integer> consumer) {
        for (int player = 0; player < 3; player++) {
            Integer score = get(player);
            if (score != null) {
                consumer.accept(player, score);
            }
        }
    }

    public synchronized void copyInto(Integer[] copy) {
        for (int player = 0; player < copy.length; player++) {
            copy[player] = get(player);
        }
    }

    public synchronized Integer firstOver(Predicate<Integer> limit) {
        return scores.values().stream().filter(limit).findFirst().orElse(null);
    }
}
