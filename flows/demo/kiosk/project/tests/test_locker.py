from kiosk.locker import code


def test_code():
    assert code(7) == 'L7'
