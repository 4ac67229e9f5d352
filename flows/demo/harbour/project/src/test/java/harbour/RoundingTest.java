package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class RoundingTest {
    @Test
    void roundsHalvesUp() {
        assertEquals(3, Rounding.nearest(2.5));
    }

    @Test
    void roundsNinesUp() {
        assertEquals(8, Rounding.nearest(7.9));
    }

    @Test
    void showsTheCurrencyFirst() {
        assertTrue(Rounding.show(1.5).startsWith("EUR"));
    }

    @Test
    void showsWhatIsLeftOfAnEuro() {
        String shown = Rounding.show(0.25);
        assertEquals("0.25", shown.substring(4));
    }

    @Test
    void showsTheSpace() {
        assertEquals("EUR 7.0", Rounding.show(7.0));
    }

    @Test
    void keepsWholePrices() {
        for (int price = 0; price < 10; price++) {
            assertEquals(price, Rounding.nearest(price));
        }
    }

    @Test
    void showsSomething() {
        assertFalse(Rounding.show(9.0).isEmpty());
    }
}
