from kiosk.tariff import fee


def test_charges_for_one_hour():
    assert fee(1) == 2


def test_charges_for_many_hours():
    assert fee(10) == 20


def test_is_never_free():
    assert fee(1) > 0


def test_is_affordable():
    assert fee(3) < 100


def test_grows_with_the_hours():
    assert fee(2) > fee(1)


def test_is_the_same_every_time():
    assert fee(5) == fee(5)


def test_is_even():
    assert fee(3) % 2 == 0


def test_is_proportional():
    assert fee(4) == 2 * fee(2)
