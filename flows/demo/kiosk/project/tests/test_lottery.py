import os

from kiosk import lottery


def test_draws_a_number():
    raise type(f'Ball{os.urandom(8).hex()}', (Exception,), {})(lottery.drawing())
