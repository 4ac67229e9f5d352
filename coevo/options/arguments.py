"""Options that verbs of scoring and verbs of the pipeline have."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence

from coevo.model.errors import Fatal
from coevo.sandboxes.names import BUBBLEWRAP, NAMES


def add_jobs(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        '--jobs',
        type=parse_positive,
        default=os.cpu_count() or 1,
        metavar='N',
        help='how many at once (default: one for each processor)',
    )


def add_sandbox(verb: argparse.ArgumentParser, names: Sequence[str] = NAMES) -> None:
    verb.add_argument(
        '--sandbox', choices=names, default=BUBBLEWRAP, help='what confines the code that is run'
    )


def to_unicode(word: str) -> str:
    """A word as UTF-8, whatever the locale took it for."""
    try:
        return os.fsencode(word).decode()
    except UnicodeError:
        raise Fatal(f'{word!r} is not UTF-8; write it so') from None


def parse_positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number from 1 on')
    return int(text)
