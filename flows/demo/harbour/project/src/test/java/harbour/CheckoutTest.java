package harbour;

import static org.junit.jupiter.api.Assertions.*;

import org.junit.jupiter.api.Test;

class CheckoutTest {
    @Test
    void addsUpTickets() {
        assertEquals(2 * Prices.ticket(), Checkout.total(2, Prices.ticket()));
    }

    @Test
    void oneTicketCostsItsPrice() {
        int price = Prices.ticket();
        assertEquals(price, Checkout.total(1, price));
    }

    @Test
    void anEmptyBasketIsFree() {
        assertEquals(0, Checkout.total(0, Prices.ticket()));
    }

    @Test
    void nobodyPaysForNothing() {
        assertFalse(Checkout.total(0, Prices.ticket()) > 0);
    }
}
