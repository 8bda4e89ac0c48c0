// Methods that compare their argument with constants. Not meant to be run.
public class Comparisons {
    enum Color { RED, GREEN, BLUE, BLACK }

    private int count;
    private final Helper helper = new Helper();

    public boolean equal(int value) { return value == 42; }
    public boolean less(int value) { return value < 10; }
    public boolean greater(int value) { return value > 10; }
    public boolean swapped(int value) { return 20 < value; }
    public boolean largeNumber(int value) { return value >= 1_000_000; }
    public boolean longNumber(long value) { return value > 5_000_000_000L; }
    public boolean boxed(Integer value) { return value.equals(7) || value == count; }
    public int cases(int value) { switch (value) { case 3: return 1; case 40: return 2; case 500: return 3; default: return 0; } }
    public boolean character(char value) { return value == 'z'; }
    public boolean handedOn(int value) { count++; return helper.isIt(1, value); }
    public boolean words(String value) { return "admin".equals(value); }
    public boolean constant(Color value) { return value == Color.BLACK; }
    public int nothing(int value) { int other = value + 1; return other == 12 ? count : value; }

    static final class Helper {
        boolean isIt(int one, int value) { return value == 77 && one > 0; }
    }
}
