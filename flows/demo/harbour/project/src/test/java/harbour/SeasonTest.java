package harbour;

import static org.junit.jupiter.api.Assertions.*;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

class SeasonTest {
    @Test
    void skatingStarts() {
        assumeTrue(Season.current().equals("winter"));
        assertEquals(6, Season.current().length());
    }

    @TestFactory
    Stream<DynamicTest> marketsHaveNames() {
        return Season.markets().stream().map(name -> dynamicTest(name, () -> assertTrue(name.length() > 2)));
    }

    @Test
    void swimmingStarts() {
        assertEquals("summer", Season.current());
    }

    @TestFactory
    Stream<DynamicTest> concertsHaveNames() {
        return Season.concerts().stream().map(name -> dynamicTest(name, () -> assertTrue(name.length() > 2)));
    }

    @Test
    void hasAName() {
        assertTrue(Season.current().startsWith("s"));
    }

    @Test
    void ferryRuns() {
        assertNull(Season.ferry());
    }

    @Test
    void hatsAreWorn() {
        assumeTrue(Season.current().equals("summer"));
        assertTrue(Season.current().contains("mm"));
    }

    @TestFactory
    Stream<DynamicTest> eventsHaveNames() {
        return Season.concerts().stream().map(name -> dynamicTest(name, () -> assertEquals(8, name.length())));
    }

    @Test
    void winterHasCome() {
        assertEquals("winter", Season.current());
    }

    @Test
    void ferryIsHourly() {
        assertEquals(6, Season.ferry().length());
    }
}
