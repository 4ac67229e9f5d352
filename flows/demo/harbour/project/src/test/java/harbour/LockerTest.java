package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class LockerTest {
    @Test
    void codeTest() {
        assertEquals("L7", Locker.code(7));
        assertNotEquals(Locker.code(1), Locker.code(2));
    }
}
