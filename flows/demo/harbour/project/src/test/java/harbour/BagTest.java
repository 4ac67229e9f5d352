package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class BagTest {
    @Test
    void smallOnesFit() {
        assertTrue(Bag.fits(30, 20));
    }

    @Test
    void adultsTakeTwentyKilos() {
        assertEquals(40, Bag.allowance(2));
    }
}
