"""The verb `coevo publish`: a snapshot that is there already, in another place."""

from __future__ import annotations

import argparse
import sys

from coevo.display.credentials import hidden
from coevo.model.errors import Damaged
from coevo.options.parser import PIPELINE_VERBS
from coevo.options.parser import Parser
from coevo.options.parser import add_snapshot
from coevo.storage.place import root_of


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = verbs.add_parser(
        'publish',
        help=PIPELINE_VERBS['publish'],
        example='coevo publish snapshots/2026-05 s3://my-bucket/2026-05',
    )
    add_snapshot(verb)
    verb.add_argument('target', type=root_of, metavar='DIR|URL', help='a folder, or s3://…')
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """1 for a snapshot that is not good, as `coevo verify` says. The catalogue beside it follows."""
    from packagers import cataloguing
    from packagers.republishing import publish

    try:
        written = publish(arguments.snapshot, arguments.target)
    except Damaged as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    done = 'published' if written else 'already there, with the same bytes'
    print(f'{hidden(str(arguments.target))}: {done}')
    place = cataloguing.beside(arguments.target)
    if place is not None:
        print(f'catalogue: {hidden(cataloguing.rebuild(place))}')
    return 0
