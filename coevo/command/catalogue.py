"""The verb `coevo snapshots`, which lists published snapshots."""

from __future__ import annotations

import argparse
import sys

from coevo.model.errors import DamagedSnapshot
from coevo.options.parser import Parser


def add(verbs: argparse._SubParsersAction[Parser]) -> None:
    """Add the verb to the command's parser."""
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
    verb.set_defaults(run=_list_snapshots)


def _list_snapshots(arguments: argparse.Namespace) -> int:
    """Print the list. Return status 1 if the catalogue is damaged."""
    from coevo.display.presentation import align_columns
    from coevo.snapshots.catalogue import (
        COUNTED,
        encode_catalogue,
        find_default_place,
        load_catalogue,
    )

    try:
        snapshots = load_catalogue(arguments.place or find_default_place())
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    if arguments.format == 'json':
        sys.stdout.write(encode_catalogue(snapshots).decode())
        return 0
    heads = ('snapshot', 'month', 'schema', *COUNTED, 'MB')
    rows = [
        (
            snapshot.name,
            snapshot.month,
            snapshot.schema,
            *(str(snapshot.rows.get(table, 0)) for table in COUNTED),
            f'{snapshot.size / 1e6:.1f}',
        )
        for snapshot in snapshots
    ]
    sys.stdout.write(align_columns([heads, *rows], [False] * 3 + [True] * (len(heads) - 3)))
    return 0
