package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class HolidaysTest {
    @Test
    void knowsJanuary() {
        assertTrue(Holidays.isHoliday(1, 1));
    }

    @Test
    void knowsFebruary() {
        assertFalse(Holidays.isHoliday(2, 1));
    }

    @Test
    void knowsMarch() {
        assertFalse(Holidays.isHoliday(3, 1));
    }

    @Test
    void knowsApril() {
        assertFalse(Holidays.isHoliday(4, 1));
    }

    @Test
    void knowsMay() {
        assertFalse(Holidays.isHoliday(5, 1));
    }

    @Test
    void knowsJune() {
        assertFalse(Holidays.isHoliday(6, 1));
    }

    @Test
    void knowsJuly() {
        assertFalse(Holidays.isHoliday(7, 1));
    }

    @Test
    void knowsAugust() {
        assertFalse(Holidays.isHoliday(8, 1));
    }

    @Test
    void knowsSeptember() {
        assertFalse(Holidays.isHoliday(9, 1));
    }

    @Test
    void knowsOctober() {
        assertFalse(Holidays.isHoliday(10, 1));
    }

    @Test
    void knowsNovember() {
        assertFalse(Holidays.isHoliday(11, 1));
    }

    @Test
    void knowsDecember() {
        assertFalse(Holidays.isHoliday(12, 1));
    }
}
