package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class DistanceTest {
    @Test
    void isSymmetric() {
        assertEquals(Distance.miles("A", "C"), Distance.miles("C", "A"));
    }

    @Test
    void measuresOneLeg() {
        assertEquals(4, Distance.miles("A", "B"));
    }

    @Test
    void measuresALongWay() {
        int miles = Distance.miles("A", "Zz");
        assertTrue(miles > 100, "only " + miles);
    }
}
