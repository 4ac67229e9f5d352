package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class GreetingTest {
    @Test
    void greets() {
        assertEquals("Hello", Greeting.text());
    }
}
