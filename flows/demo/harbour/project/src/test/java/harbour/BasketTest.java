package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class BasketTest {
    @Test
    void countsEverybody() {
        assertEquals(3, Basket.count(2, 1));
    }

    @Test
    void countsNobody() {
        assertEquals(0, Basket.count(0, 0));
    }

    @Test
    void countsAdultsAlone() {
        int adults = 4;
        assertEquals(adults, Basket.count(adults, 0));
    }
}
