from kiosk import bag


def test_small_ones_fit():
    assert bag.fits(30, 20)


def test_adults_take_twenty_kilos():
    assert bag.allowance(2) == 40
