"""`python -m flows.batches.evaluation_process`: run `coevo` with arguments from standard input.

The arguments are on one line, separated by NUL. The process ends when standard input ends, so that
it does not outlive a killed worker.
"""

from __future__ import annotations

import sys

from coevo.command.main import main
from flows.batches.contained import kill_this_process_when_input_ends

if __name__ == '__main__':
    words = sys.stdin.buffer.readline().decode().removesuffix('\n').split('\0')
    kill_this_process_when_input_ends()
    raise SystemExit(main(words))
