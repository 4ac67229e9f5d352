"""`python -m flows.batches.evaluation_process`: the command `coevo` with the words on a line of standard input.

It ends where standard input does, so that it outlives no worker that was killed.
"""

from __future__ import annotations

import sys

from coevo.command.main import main
from flows.batches.contained import stop_with_parent

if __name__ == '__main__':
    words = sys.stdin.buffer.readline().decode().removesuffix('\n').split('\0')
    stop_with_parent()
    raise SystemExit(main(words))
