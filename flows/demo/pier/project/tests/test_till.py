import pytest
from pier.till import Till


class TestTill:
    def test_three_people_pay_three_tickets(self):
        till = Till()
        assert till.sell(2, people=3) == 12
        assert till.taken == 12

    def test_nobody_cannot_buy(self):
        with pytest.raises(ValueError, match='nobody'):
            Till().sell(1, people=0)

    def test_luggage_is_paid(self):
        till = Till()
        assert till.carry(5) == 1
        assert till.taken == 1

    def test_what_is_given_back_is_gone(self):
        till = Till()
        till.carry(10)
        till.refund(1)
        assert till.taken == 1

    def test_no_more_is_given_back_than_there_is(self):
        with pytest.raises(ValueError, match='not so much'):
            Till().refund(1)

    def test_nobody_has_paid_on_average_at_first(self):
        assert Till().average() == 0

    def test_two_who_pay_the_same_pay_that_on_average(self):
        till = Till()
        till.sell(1, people=2)
        assert till.average() == till.taken / 2
