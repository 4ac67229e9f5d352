"""Options that several verbs of the pipeline share."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.storage.place import parse_root


def add_store(verb: argparse.ArgumentParser) -> None:
    """Add the option `--store`."""
    verb.add_argument(
        '--store',
        type=parse_root,
        default=Path('store'),
        metavar='DIR|URL',
        help='where clones and results are kept: a folder, or s3://…',
    )


def add_local(verb: argparse.ArgumentParser) -> None:
    """Add the option `--local`."""
    verb.add_argument(
        '--local',
        type=Path,
        metavar='DIR',
        help='where clones and caches lie (default: in the store; with a URL, in the tool cache)',
    )


def parse_runs(text: str) -> int:
    """Parse a number of runs, from 0 on."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of runs')
    return int(text)
