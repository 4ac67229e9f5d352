"""What a benchmark's user can mend: one sentence, and exit status 2."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from coevo.model.errors import Fatal


@contextmanager
def print_fatal(name: str) -> Iterator[None]:
    """Print a Fatal under a benchmark's name in place of where it was raised; SystemExit(2)."""
    try:
        yield
    except Fatal as error:
        print(f'{name}: {error}', file=sys.stderr)
        raise SystemExit(2) from None
