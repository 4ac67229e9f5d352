"""Print the time, then how many milliseconds three ways to wait for `WAIT` seconds took.

The waits are measured by the monotonic clock. The output shows whether Python works with a faked
system clock.
"""

import select
import threading
import time

WAIT = 0.2


def main():
    """Print the four numbers, one per line."""
    print(int(time.time() * 1000))
    for wait in (time.sleep, threading.Event().wait, wait_by_select):
        start = time.monotonic()
        wait(WAIT)
        print(round((time.monotonic() - start) * 1000))


def wait_by_select(seconds):
    """Wait for some seconds by `select` without any file."""
    select.select([], [], [], seconds)


if __name__ == '__main__':
    main()
