"""Options that several verbs have."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from coevo.place import root_of

SANDBOXES = ('bubblewrap', 'docker', 'none')


def add_store(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--store', type=root_of, default=Path('store'), metavar='DIR|URL')


def add_local(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        '--local',
        type=Path,
        metavar='DIR',
        help='where clones and caches lie (default: in the store; with a URL, in the tool cache)',
    )


def add_jobs(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--jobs', type=positive, default=os.cpu_count() or 1, metavar='N')


def add_sandbox(verb: argparse.ArgumentParser) -> None:
    verb.add_argument('--sandbox', choices=SANDBOXES, default='bubblewrap')


def positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f'{text!r} is not a number from 1 on')
    return int(text)


def seconds(text: str) -> float:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'{text!r} is not a number of seconds')
    return float(text)
