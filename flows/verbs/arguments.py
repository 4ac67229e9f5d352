"""Options that several verbs of the pipeline share."""

from __future__ import annotations

import argparse
from pathlib import Path

from coevo.options.settings import Setting
from coevo.storage.place import parse_root


def add_store_option(verb: argparse.ArgumentParser) -> None:
    """Add the option `--store` to the parser of a verb."""
    verb.add_argument(
        '--store',
        type=parse_root,
        default=Path('store'),
        metavar='DIR|URL',
        help='where clones and results are kept: a folder, or s3://…',
    )


LOCAL = Setting(
    name='local',
    kind=Path,
    example='clones',
    help='where clones and caches lie (without it in the store; if that is a URL, in the tool cache)',
)
