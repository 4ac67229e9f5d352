"""Prints what the clock says, then how many milliseconds three ways to wait for `WAIT` took, by the clock
that nobody sets: whether a Python whose clock is set can still be relied on."""

import select
import threading
import time

WAIT = 0.2


def main():
    print(int(time.time() * 1000))
    for wait in (time.sleep, threading.Event().wait, wait_for_a_pipe):
        start = time.monotonic()
        wait(WAIT)
        print(round((time.monotonic() - start) * 1000))


def wait_for_a_pipe(seconds):
    select.select([], [], [], seconds)


if __name__ == '__main__':
    main()
