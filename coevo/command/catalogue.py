"""The verb `coevo snapshots`: what has been published."""

from __future__ import annotations

import argparse
import sys

from coevo.model.errors import Damaged
from coevo.options.parser import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    verb = verbs.add_parser(
        'snapshots',
        help='list the snapshots of a folder or URL, newest last',
        example='coevo snapshots https://example.org/coevo',
    )
    verb.add_argument(
        'place',
        nargs='?',
        metavar='DIR|URL',
        help='with a catalogue.json, or a folder of snapshots ($COEVO_SNAPSHOTS, else ./snapshots)',
    )
    verb.add_argument(
        '--format', choices=('table', 'json'), default='table', help='how the list is written'
    )
    verb.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> int:
    """1 for a catalogue that is damaged."""
    from coevo.display.presentation import columns
    from coevo.snapshots.catalogue import COUNTED
    from coevo.snapshots.catalogue import catalogue
    from coevo.snapshots.catalogue import default_place
    from coevo.snapshots.catalogue import text

    try:
        found = catalogue(arguments.place or default_place())
    except Damaged as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    if arguments.format == 'json':
        sys.stdout.write(text(found).decode())
        return 0
    heads = ('snapshot', 'month', 'schema', *COUNTED, 'MB')
    rows = [
        (
            one.name,
            one.month,
            one.schema,
            *(str(one.rows.get(table, 0)) for table in COUNTED),
            f'{one.size / 1e6:.1f}',
        )
        for one in found
    ]
    sys.stdout.write(columns([heads, *rows], [False] * 3 + [True] * (len(heads) - 3)))
    return 0
