"""Open a snapshot with DuckDB: its tables as views, `standard`, and the macro `clean`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from typing import Any
from typing import cast

from coevo import cutoffs
from coevo.errors import Damaged
from coevo.errors import Fatal
from coevo.labels import TABLE
from coevo.labels import Demand
from coevo.labels import Row
from coevo.records import Cell
from coevo.schema import SCHEMA_VERSION
from coevo.schema import TABLES

if TYPE_CHECKING:
    import duckdb

MANIFEST = 'manifest.json'
# A cell that decides is run in at least so many fresh processes; a time limit that is hit twice
# says all it can; a compiler is asked once.
LEAST_RUNS, LEAST_TIMEOUTS = 3, 2


def open(path: Path | str) -> duckdb.DuckDBPyConnection:
    """A connection with a view for each table; Fatal if `path` is no snapshot.

    The view `standard` holds what most people want: methods of the walk `parents` of which every
    deciding cell has complete evidence. `clean(contamination_date, '2024-06')` is true for what
    was not public until later than that month (or day).
    """
    return connect(Path(path), {})


def connect(path: Path, conditions: Mapping[str, str]) -> duckdb.DuckDBPyConnection:
    """The same, each view with the condition of its name, which may name views before it."""
    import duckdb

    files = {name: data_files(path, name) for name in TABLES}
    manifest(path)
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    ordered = [*conditions, *(name for name in TABLES if name not in conditions)]
    for name in ordered:
        if files[name]:
            where = conditions.get(name, 'true')
            connection.execute(
                f'CREATE VIEW {name} AS SELECT * FROM {source(files[name])} WHERE {where}'
            )
    connection.execute(cutoffs.MACRO)
    connection.execute(f'CREATE VIEW standard AS SELECT * FROM methods WHERE {standard()}')
    return connection


def manifest(path: Path) -> dict[str, Any]:
    """A snapshot's manifest; Damaged if there is none, Fatal if this version is too old for it."""
    if not path.is_dir():
        raise Fatal(f'{path} is no snapshot: there is no such folder')
    try:
        found = json.loads((path / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise Damaged(f'{path} is no snapshot: it has no {MANIFEST}') from None
    except (ValueError, IsADirectoryError):
        found = None
    if not _is_manifest(found):
        raise Damaged(f'{path / MANIFEST} is damaged: get the snapshot again')
    if found['schema_version'] > SCHEMA_VERSION:
        raise Fatal(f'{path} is of a newer schema ({found["schema_version"]}): update coevo')
    return cast('dict[str, Any]', found)


def _is_manifest(found: object) -> bool:
    """Whether all that is read of a manifest is there; of a newer one, the version alone."""
    if not isinstance(found, dict) or not isinstance(found.get('schema_version'), int):
        return False
    if found['schema_version'] > SCHEMA_VERSION:
        return True
    files, rows, walks = (found.get(name) for name in ('files', 'rows', 'walks'))
    return (
        isinstance(files, dict)
        and _have(files.values(), {'size', 'sha256'})
        and isinstance(rows, dict)
        and isinstance(walks, list)
        and _have(walks, {'repo', 'language', 'walk', 'pairs_unmined'})
    )


def _have(parts: Iterable[object], keys: set[str]) -> bool:
    return all(isinstance(part, dict) and keys.issubset(part) for part in parts)


def data_files(path: Path, table: str) -> tuple[Path, ...]:
    """The Parquet files of a table, sorted; Damaged if there are none."""
    found = tuple(sorted((path / 'data' / table).glob('*.parquet')))
    if not found and table != 'timings':  # which are no part of what a snapshot promises
        manifest(path)
        raise Damaged(f'{path} is not whole: data/{table} has no Parquet file; get it again')
    return found


def source(files: tuple[Path, ...]) -> str:
    """Parquet files as what stands behind FROM."""
    names = ', '.join(quoted(str(file.absolute())) for file in files)
    return f'read_parquet([{names}])'


def quoted(text: str) -> str:
    """A text as SQL writes it."""
    doubled = text.replace("'", "''")
    return f"'{doubled}'"


def standard() -> str:
    """The condition of the view `standard`, from the label table."""
    rows = ' OR '.join(f'({_evidence(row)})' for row in TABLE)
    return f"walk = 'parents' AND sandbox <> 'none' AND ({rows})"


def _evidence(row: Row) -> str:
    cells = (_cell(cell, demand) for cell, demand in row.demands.items())
    return ' AND '.join((f"label = '{row.label}'", f"change = '{row.change}'", *cells))


def _cell(cell: Cell, demand: Demand) -> str:
    if demand is Demand.PASS:
        return f"{cell} = 'pass' AND {cell}_runs >= {LEAST_RUNS} AND {cell}_passes = {cell}_runs"
    return (
        f"({cell} = 'compile_error' OR {cell}_passes = 0 AND ({cell}_runs >= {LEAST_RUNS} OR "
        f"{cell} = 'timeout' AND {cell}_runs >= {LEAST_TIMEOUTS}))"
    )
