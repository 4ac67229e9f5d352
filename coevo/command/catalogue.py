"""`coevo query --list`: list published snapshots."""

from __future__ import annotations

import sys

from coevo.model.errors import DamagedSnapshot, Fatal


def print_snapshots(place: str | None, format: str) -> int:
    """Print the snapshots of a folder or URL. Return status 1 if the catalogue is damaged.

    place   with a catalogue.json, or a folder of snapshots; None is the usual place
    format  table or json

    Raises: Fatal for another format.
    """
    from coevo.display.presentation import align_columns
    from coevo.snapshots.catalogue import (
        COUNTED,
        encode_catalogue,
        find_default_place,
        load_catalogue,
    )

    if format not in ('table', 'json'):
        raise Fatal(f'--format must be table or json for a list of snapshots, not {format}')
    try:
        snapshots = load_catalogue(place or find_default_place())
    except DamagedSnapshot as error:
        print(f'coevo: {error}', file=sys.stderr)
        return 1
    if format == 'json':
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
