"""A process that mines made-up pairs into a store, run after run, until its input ends.

It prints a line for each run that ended: `python -m tests.packagers.miner STORE`.
"""

from __future__ import annotations

import select
import sys
from itertools import count
from pathlib import Path

from coevo.storage.store import Store
from tests import segments


def main(folder: Path) -> None:
    for runs in count(1):
        segments.fill(Store(folder), *range(1, 3 * runs + 1))
        print(runs, flush=True)
        if select.select([sys.stdin], [], [], 0)[0]:
            return


if __name__ == '__main__':
    main(Path(sys.argv[1]))
