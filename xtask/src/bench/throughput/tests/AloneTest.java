package bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class AloneNUMBERTest {
    @Test
    void adds1() {
        assertEquals(1 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 1);
    }

    @Test
    void adds2() {
        assertEquals(2 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 2);
    }

    @Test
    void adds3() {
        assertEquals(3 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 3);
    }

    @Test
    void adds4() {
        assertEquals(4 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 4);
    }

    @Test
    void adds5() {
        assertEquals(5 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 5);
    }

    @Test
    void adds6() {
        assertEquals(6 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 6);
    }

    @Test
    void adds7() {
        assertEquals(7 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 7);
    }

    @Test
    void adds8() {
        assertEquals(8 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 8);
    }

    @Test
    void adds9() {
        assertEquals(9 + NUMBER, IntStream.rangeClosed(1, NUMBER).map(each -> 1).sum() + 9);
    }
}
