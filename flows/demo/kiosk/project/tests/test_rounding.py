from kiosk.rounding import nearest
from kiosk.rounding import show


def test_rounds_halves_up():
    assert nearest(2.5) == 3


def test_rounds_nines_up():
    assert nearest(7.9) == 8


def test_shows_the_currency_first():
    assert show(5).startswith('EUR')


def test_shows_what_is_left_of_a_euro():
    shown = show(0.25)
    assert shown[4:] == '0.25'


def test_shows_the_space():
    assert show(7.0) == 'EUR 7.0'


def test_keeps_whole_prices():
    for price in range(10):
        assert nearest(price) == price


def test_shows_something():
    assert len(show(9.0)) > 0
