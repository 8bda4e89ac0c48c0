// What methods may do to their object: the beginning of each method's name says what must be found out. Not meant to be run.
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Function;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

public class Effects extends Base implements Iterable<Object> {
    interface Shape { int area(); }
    enum Level {
        LOW, HIGH;
        int uses;
        int used() { return ++uses; }
    }
    static class Hidden {
        int count;
        private int step() { return ++count; }
        int advance() { return step(); }
    }
    static class Shown extends Hidden {
        int step() { return 0; }
    }
    static class Account {
        int balance;
        synchronized int get() { return balance; }
        synchronized void add(int amount) { balance += amount; }
    }
    static final class Square implements Shape {
        int side = 2;
        public int area() { return side * side; }
    }
    static final class Counting implements Shape {
        int asked;
        public int area() { return ++asked; }
    }
    static class Cell {
        Object value;
        Cell next;
        Cell(Object value) { this.value = value; }
        Object get() { return value; }
        void set(Object value) { this.value = value; }
        @Override public String toString() { return "cell of " + value; }
    }
    static final class Telltale {
        int told;
        @Override public String toString() { return "told " + ++told; }
    }
    /** An iterator that takes out what it hands out. */
    final class Draining implements Iterator<Object> {
        int at;
        public boolean hasNext() { return at < list.size(); }
        public Object next() { at++; return list.remove(0); }
    }
    final class Walking implements Iterator<Object> {
        int at;
        public boolean hasNext() { return at < list.size(); }
        public Object next() { return list.get(at++); }
    }

    private static int total;
    private static final VarHandle SLOT;
    private static final AtomicReferenceFieldUpdater<Effects, Object> UPDATER =
            AtomicReferenceFieldUpdater.newUpdater(Effects.class, Object.class, "slot");
    static {
        try {
            SLOT = MethodHandles.lookup().findVarHandle(Effects.class, "slot", Object.class);
        } catch (ReflectiveOperationException error) {
            throw new AssertionError(error);
        }
    }

    volatile Object slot;
    private int number;
    private int[] numbers = new int[4];
    private final int[][] table = new int[2][2];
    private final List<Object> list = new ArrayList<>();
    private final Map<Object, Object> map = new HashMap<>();
    private final Map<Object, Object> sorted = new TreeMap<>();
    private final Map<Object, Cell> cells = new ConcurrentHashMap<>();
    private final CopyOnWriteArrayList<Object> copied = new CopyOnWriteArrayList<>();
    private final AtomicInteger atomic = new AtomicInteger();
    private final AtomicReference<Cell> reference = new AtomicReference<>(new Cell(1));
    private final ReentrantLock lock = new ReentrantLock();
    private final ReentrantReadWriteLock both = new ReentrantReadWriteLock();
    private final StringBuilder text = new StringBuilder();
    private final Shape square = new Square();
    private final Shape counting = new Counting();
    private final Shape[] shapes = {new Square(), new Counting()};
    private final Telltale telltale = new Telltale();
    private final Function<Object, Object> pure = value -> value;
    private final Supplier<Object> impure = () -> { number++; return null; };
    private Cell cell = new Cell(0);
    private final Hidden hidden = new Shown();
    private final Account[] accounts = {new Account(), new Account()};
    private transient List<Object> view;
    private List<Object> kept;

    public int readsField() { return number; }
    public void writesField() { number = 1; }
    public void writesStatic() { total++; }
    public int readsStatic() { return total; }
    public int readsElement(int at) { return numbers[at] + table[0][at]; }
    public void writesElement(int at) { numbers[at] = 1; }
    public void writesInnerElement(int at) { table[at][at] = 1; }
    public int[] readsCopy() { int[] copy = numbers.clone(); copy[0] = 7; return copy; }
    public int[] readsCopyOf() { int[] copy = Arrays.copyOf(numbers, 9); copy[0] = 7; return copy; }
    public void writesAlias(boolean own) { int[] some = own ? numbers : new int[4]; some[0] = 1; }
    public void writesThroughHelper() { fill(numbers); }
    public int readsThroughHelper() { int[] mine = new int[3]; fill(mine); return mine[0]; }
    private static void fill(int[] array) { array[0] = 3; }
    public void writesByArraycopy(int[] from) { System.arraycopy(from, 0, numbers, 0, 1); }
    public int[] readsByArraycopy() { int[] to = new int[4]; System.arraycopy(numbers, 0, to, 0, 4); return to; }
    public void writesByFill() { Arrays.fill(numbers, 0); }
    public synchronized int readsUnderMonitor() { synchronized (list) { return list.size(); } }
    public int readsUnderLock() { lock.lock(); try { return number; } finally { lock.unlock(); } }
    public int readsUnderReadLock() { both.readLock().lock(); try { return number; } finally { both.readLock().unlock(); } }
    public void writesLockOnly() { lock.lock(); }
    public boolean writesTryLock() { return lock.tryLock(); }
    public void writesUnderLock() { lock.lock(); try { number = 2; } finally { lock.unlock(); } }
    public boolean readsList(Object value) { return list.contains(value); }
    public Object readsMap(Object key) { return map.get(key) == null ? sorted.get(key) : null; }
    public int readsSizes() { return map.size() + sorted.size() + copied.size(); }
    public void writesList(Object value) { list.add(value); }
    public Object writesMap(Object key) { return map.remove(key); }
    public void writesSorted(Object key, Object value) { sorted.put(key, value); }
    public List<Object> readsSnapshot() { return new ArrayList<>(list); }
    public List<Object> readsBuilt() { List<Object> built = new ArrayList<>(); for (Object one : list) { built.add(one); } return built; }
    public int readsDistinct() { HashSet<Object> set = new HashSet<>(); for (Object one : list) { set.add(one); } return set.size(); }
    public List<Object> readsView() { return Collections.unmodifiableList(list); }
    public List<Object> writesCachedView() { if (view == null) { view = Collections.unmodifiableList(list); } return view; }
    public int readsViews() { int sum = 0; for (Object key : map.keySet()) { sum++; } for (Cell one : cells.values()) { sum++; } return sum; }
    public void writesBySort() { Collections.reverse(list); }
    public Iterator<Object> iterator() { return new Walking(); }
    public Iterator<Object> readsWalking() { return new Walking(); }
    public Iterator<Object> writesDraining() { return new Draining(); }
    public Iterator<Object> readsCopied() { return copied.iterator(); }
    public int readsAtomic() { return atomic.get(); }
    public int writesAtomic() { return atomic.incrementAndGet(); }
    public boolean writesCompareAndSet() { return atomic.compareAndSet(0, 1); }
    public Object readsReference() { return reference.get().value; }
    public void writesReference() { reference.get().value = 1; }
    public void writesReferenceItself(Object value) { reference.set(new Cell(value)); }
    public boolean readsHandle() { return SLOT.getAcquire(this) == null; }
    public void writesHandle(Object value) { SLOT.setRelease(this, value); }
    public boolean readsUpdater() { return UPDATER.get(this) == null; }
    public boolean writesUpdater(Object value) { return UPDATER.compareAndSet(this, null, value); }
    public String readsText() { return "number " + number + list; }
    public String readsBuilder() { StringBuilder mine = new StringBuilder(); mine.append(list).append(number); return mine.toString(); }
    public void writesBuilder() { text.append('x'); }
    public String writesText() { return "told " + telltale; }
    public String writesValueOf() { return String.valueOf(telltale); }
    public Object writesByResult() { return telltale; }
    public int readsShape() { return square.area(); }
    public int writesShape() { return counting.area(); }
    public int writesSomeShape(int at) { return shapes[at].area(); }
    public Object readsLambda(Object value) { return pure.apply(value); }
    public Object writesLambda() { return impure.get(); }
    public int readsOwnLambda() { int[] box = new int[1]; IntSupplier count = () -> ++box[0] + number; return count.getAsInt(); }
    public int writesOwnLambda() { IntSupplier count = () -> ++number; return count.getAsInt(); }
    public int writesMethodReference() { IntSupplier count = atomic::incrementAndGet; return count.getAsInt(); }
    public Object readsChain() { Cell at = cell; while (at.next != null) { at = at.next; } return at.get(); }
    public void writesChain(Object value) { Cell at = cell; while (at.next != null) { at = at.next; } at.set(value); }
    public Object readsNewCell(Object value) { Cell mine = new Cell(value); mine.set(2); mine.next = cell; return mine.get(); }
    public void writesThroughNewCell(Object value) { Cell mine = new Cell(value); mine.next = cell; mine.next.set(3); }
    public void writesLinkedCell(Object value) { Cell mine = new Cell(value); cell.next = mine; }
    public Object readsCellOfMap(Object key) { Cell one = cells.get(key); return null; }
    public void writesCellOfMap(Object key) { Cell one = cells.get(key); if (one != null) { one.set(0); } }
    public void writesNewCell(Object key) { cells.put(key, new Cell(key)); }
    public void writesKept(List<Object> given) { kept = given; }
    public void writesToKept(Object value) { kept.add(value); }
    public int readsKept() { return kept.size(); }
    public Object[] readsIntoArgument(Object[] into) { into[0] = number; return into; }
    public int readsThrowing() { if (number > 3) { throw new IllegalStateException("too many " + number); } return 0; }
    public int readsCatching() { try { return list.get(9) == null ? 0 : 1; } catch (IndexOutOfBoundsException error) { return -1; } }
    public void writesWhenRare(int value) { if (value == 12345 && number > 99) { number = value; } }
    public int readsInherited() { return inheritedRead(); }
    public void writesInherited() { inheritedWrite(); }
    public int readsSwitch(String name) { switch (name) { case "a": return number; case "b": return 2; default: return 0; } }
    public int readsLevel(Level level) { return level.ordinal() + level.uses; }
    public void writesLevel(Level level) { level.uses++; }
    public int writesConstant() { return Level.LOW.used(); }
    public int unknownLevel(Level level) { return level.used(); }
    public int writesPrivate() { return hidden.advance(); }
    public int readsAccounts() { int sum = 0; for (Account one : accounts) { sum += one.get(); } return sum; }
    public void writesAccount(int at, int amount) { accounts[at].add(amount); }
    public void readsForEach(java.util.function.Consumer<Object> action) { list.forEach(action); sorted.forEach((key, value) -> action.accept(key)); }
    public boolean readsSame(Object other) { return other instanceof Effects && ((Effects) other).number == number; }
    public long readsSum() { long[] sum = new long[1]; list.forEach(one -> sum[0] += one.hashCode()); return sum[0]; }
    public void writesEach() { list.forEach(one -> number++); }
    public void writesOnError(Object value) { try { list.get(9); } catch (RuntimeException error) { slot = value; } }
    public void writesInFinally() { try { list.get(9); } finally { number = 0; } }
    public int[] writesLeaked() { numbers = new int[2]; return numbers; }
    public void writesHandedOut(Object[] into) { into[0] = cell; ((Cell) into[0]).set(1); }
    public native int unknownNative();
    public String unknownFormat() { return String.format("%s", telltale); }
    public Object unknownReflection() throws Exception { return Effects.class.getDeclaredMethod("writesField").invoke(this); }
    public void unknownThread() { new Thread(() -> number++).start(); }
    public long unknownStream() { return list.stream().count(); }
    public Object unknownLoaded() throws Exception { return Class.forName("a.B").getDeclaredConstructor().newInstance(); }
}

class Base {
    protected int inherited;

    int inheritedRead() { return inherited; }

    void inheritedWrite() { inherited++; }
}
