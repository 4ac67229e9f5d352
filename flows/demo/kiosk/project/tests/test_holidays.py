from kiosk.holidays import is_holiday


def test_knows_january():
    assert not is_holiday(1, 25)


def test_knows_february():
    assert not is_holiday(2, 25)


def test_knows_march():
    assert not is_holiday(3, 25)


def test_knows_april():
    assert not is_holiday(4, 25)


def test_knows_may():
    assert not is_holiday(5, 25)


def test_knows_june():
    assert not is_holiday(6, 25)


def test_knows_july():
    assert not is_holiday(7, 25)


def test_knows_august():
    assert not is_holiday(8, 25)


def test_knows_september():
    assert not is_holiday(9, 25)


def test_knows_october():
    assert not is_holiday(10, 25)


def test_knows_november():
    assert not is_holiday(11, 25)


def test_knows_december():
    assert is_holiday(12, 25)
