package harbour;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import org.junit.Test;

public class SeatTest {
    @Test
    public void labelsTheFirstRow() {
        assertEquals("1A", Seat.label(1, 'A'));
    }

    @Test
    public void labelsHighRows() {
        assertEquals("30F", Seat.label(30, 'F'));
    }

    @Test
    public void theFirstColumnIsAtTheWindow() {
        assertTrue(Seat.atTheWindow('A'));
    }
}
