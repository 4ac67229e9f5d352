"""Options that several verbs of the pipeline have."""

from __future__ import annotations

import argparse
from datetime import UTC
from datetime import datetime
from datetime import timedelta
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.storage.place import root_of


def add_store(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        '--store',
        type=root_of,
        default=Path('store'),
        metavar='DIR|URL',
        help='where clones and results are kept: a folder, or s3://…',
    )


def add_local(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        '--local',
        type=Path,
        metavar='DIR',
        help='where clones and caches lie (default: in the store; with a URL, in the tool cache)',
    )


def runs(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of runs')
    return int(text)


def day(text: str | None, *, end: bool) -> datetime | None:
    """A date or time in UTC; a bare date is its first moment, or its last one where `end`."""
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise Fatal(f'{text!r} is not a date; write it as 2026-01-31') from None
    found = found.replace(tzinfo=found.tzinfo or UTC)
    if end and len(text) == len('2026-01-31'):
        found += timedelta(days=1) - timedelta(microseconds=1)
    return found
