"""The tables of a snapshot under the names of schema 2, for scripts that were written for these.

    python -m benchmarks.schema_2 SNAPSHOT OUT

Writes OUT/data/TABLE/part-0.parquet. OUT is no snapshot: it has no manifest.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.refusals import print_fatal
from coevo.model import schema_2
from coevo.model.errors import Fatal
from coevo.model.schema import TABLES, build_table_schema
from coevo.snapshots import snapshot
from coevo.snapshots.locations import quote_sql


def write_old_tables(place: str, out: Path) -> tuple[str, ...]:
    """Write each table of a snapshot, and return the names of schema 2 that they have now.

    Raises: Fatal if `out` is there already.
    """
    if out.exists():
        raise Fatal(f'{out} already exists; name a new folder')
    connection = snapshot.open_snapshots(place)
    names = []
    for table in TABLES:
        name = schema_2.TABLES.get(table, table)
        folder = out / 'data' / name
        folder.mkdir(parents=True)
        rows = schema_2.build_old_names_select(table, table, list(build_table_schema(table)))
        file = quote_sql(str(folder / 'part-0.parquet'))
        connection.execute(f'COPY (FROM {rows}) TO {file} (FORMAT parquet)')
        names.append(name)
    return tuple(names)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument('snapshot', help='a folder, a .zip, or a URL')
    parser.add_argument('out', type=Path, help='a new folder')
    parsed = parser.parse_args(arguments)
    names = write_old_tables(parsed.snapshot, parsed.out)
    print(f'{len(names)} tables are in {parsed.out}/data: {", ".join(names)}')
    return 0


if __name__ == '__main__':
    with print_fatal('schema_2'):
        sys.exit(main())
