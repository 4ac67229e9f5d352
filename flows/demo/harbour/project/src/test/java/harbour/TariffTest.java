package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class TariffTest {
    @Test
    void chargesForOneZone() {
        assertEquals(2, Tariff.fee(1));
    }

    @Test
    void chargesForManyZones() {
        assertEquals(20, Tariff.fee(10));
    }

    @Test
    void isNeverFree() {
        assertTrue(Tariff.fee(1) > 0);
    }

    @Test
    void isAffordable() {
        assertTrue(Tariff.fee(3) < 100);
    }

    @Test
    void growsWithTheZones() {
        assertTrue(Tariff.fee(2) < Tariff.fee(3));
    }

    @Test
    void isTheSameEveryTime() {
        assertEquals(Tariff.fee(4), Tariff.fee(4));
    }

    @Test
    void isEven() {
        assertEquals(0, Tariff.fee(5) % 2);
    }

    @Test
    void isProportional() {
        assertEquals(3 * Tariff.fee(2), Tariff.fee(6));
    }
}
