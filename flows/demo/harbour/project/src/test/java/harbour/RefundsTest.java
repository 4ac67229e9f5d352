package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class RefundsTest {
    @Test
    void nothingComesOfNothing() {
        assertEquals(0, Refunds.full(0));
    }
}
