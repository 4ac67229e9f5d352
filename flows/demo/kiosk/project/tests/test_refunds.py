from kiosk import refunds


def test_nothing_comes_of_nothing():
    assert refunds.whole(0) == 0
