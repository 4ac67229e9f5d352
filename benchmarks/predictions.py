"""A store's rows with a track as the scoring program for published tasks reads them.

    python -m benchmarks.predictions STORE WALK... [--also STORE ...] [--column track] > PREDICTIONS.jsonl

One JSON line for each method row with `track_by_module`, since published tasks follow Maven's verdict; with
`track`, which released tasks have, on demand.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

from benchmarks.stores import segments
from coevo.model.words import Track, Walk
from coevo.storage.store import Store

COLUMNS = ('track_by_module', 'track')


def predictions(
    stores: Sequence[Store], walks: Collection[Walk], column: str
) -> Iterator[dict[str, str]]:
    """column  the track that counts, of `COLUMNS`"""
    for segment in segments(stores, walks):
        for row in segment.methods:
            track: Track | None = getattr(row, column)
            if track is not None:
                yield {
                    'repo': row.repo,
                    'track': track,
                    'old_rev': row.old_rev,
                    'new_rev': row.new_rev,
                    'test_file': row.test_file,
                    'test_method': row.test_method,
                }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('store', type=Path)
    parser.add_argument('walks', type=Walk, nargs='+')
    parser.add_argument('--also', type=Path, action='append', default=[], metavar='STORE')
    parser.add_argument('--column', choices=COLUMNS, default=COLUMNS[0])
    arguments = parser.parse_args()
    stores = [Store(path) for path in (arguments.store, *arguments.also)]
    for row in predictions(stores, arguments.walks, arguments.column):
        print(json.dumps(row))


if __name__ == '__main__':
    main()
