"""Open a snapshot with DuckDB: its tables as views, the view `standard`, and the macro `clean`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.model import licences, schema_2
from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import DamagedSnapshot, Fatal
from coevo.model.families import Family
from coevo.model.labels import TABLE, CellDemand, LabelTableRow
from coevo.model.schema import (
    NEW_TABLES,
    TABLES,
    SchemaVersion,
    find_missing_columns,
    get_table_name_in_files,
    list_columns,
)
from coevo.model.words import Cell, Track
from coevo.snapshots import columns, cutoffs, forms
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.columns import TableFile
from coevo.snapshots.cutoffs import build_no_leak_condition
from coevo.snapshots.locations import MANIFEST, build_parquet_source, list_data_files, quote_sql
from coevo.snapshots.manifests import (
    has_withheld_texts,
    is_code_free,
    list_filled_pairs,
    load_manifest_at,
)
from coevo.snapshots.tam_eval import TAM_EVAL

if TYPE_CHECKING:
    import duckdb

__all__ = [
    'MANIFEST',
    'OpenedSnapshots',
    'attach_snapshots',
    'connect_with_conditions',
    'list_data_files',
    'load_into_memory',
    'has_withheld_texts',
    'is_code_free',
    'create_table_views',
    'create_views',
    'load_manifest',
    'load_manifest_at',
    'parse_schema_version',
    'open_snapshots',
    'quote_sql',
    'translate_read_errors',
    'refuse_code_free_edition',
    'summarise_error',
    'build_parquet_source',
    'build_standard_condition',
    'attach_snapshots_unchecked',
]

# A deciding cell is run in at least this many fresh processes. Two timeouts are enough evidence,
# and a compilation is done only once.
LEAST_RUNS, LEAST_TIMEOUTS = 3, 2
# Tasks that a suggested command names.
_MOST_SHOWN = 3

# A name in a query must not make DuckDB download an extension, or load one that is installed.
_NOTHING_FETCHED: dict[str, str | bool | int | float | list[str]] = {
    'autoinstall_known_extensions': 'false',
    'autoload_known_extensions': 'false',
    'allow_community_extensions': 'false',
}


# Methods and tasks whose pair is a real change. Walks over states also pair branches that merely
# interleave, so that one seems to undo the other. Snapshots of a schema before 1.2 do not have this
# column.
RELATED = 'old_is_ancestor IS NOT false'


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSnapshots:
    """Snapshots in a connection: their files, and the FROM source for all rows of each table."""

    connection: duckdb.DuckDBPyConnection
    parts: Sequence[TableFile]
    rows: Mapping[str, str]


def open_snapshots(path: Path | str, *more: Path | str) -> duckdb.DuckDBPyConnection:
    """Return a connection with a view for each table, without comments on views and columns.

    `path` is a folder, a .zip, or a URL of https:// or s3://. With several snapshots each table has
    the rows of all, and a first column `snapshot` with the month.

    The view `standard` holds what most users want: methods of the walk `parents` whose old revision
    is an ancestor of the new one, with complete evidence for every deciding cell, and whose task
    does not leak its answer. `standard_tasks` holds the tasks with such methods only,
    `verified` those of them that ask for more than a trivial change, are about code that their
    assertions reach, and are not shown by the start state; `tam_eval` the tasks of the family `file`
    that TAM-Eval's rules leave; `permissive` the methods of `standard` under a permissive licence.
    `clean(contamination_date, '2024-06')` is true for what became public later than that month (or
    day), and `FROM clean('2024-06')` gives these methods.

    Raises: Fatal or DamagedSnapshot if a path is no snapshot, or is damaged.
    """
    opened = attach_snapshots((path, *more))
    create_views(opened, {})
    return opened.connection


def connect_with_conditions(
    places: Sequence[Path | str], conditions: Mapping[str, str]
) -> duckdb.DuckDBPyConnection:
    """Open snapshots as `open_snapshots` does, limit views to some rows, and comment all views.

    The comments take as long as all the rest.

    conditions  SQL that rows of a view fulfil, by the view's name; it may refer to views before it
    """
    opened = attach_snapshots(places)
    create_views(opened, conditions)
    columns.add_comments(opened.connection)
    return opened.connection


def attach_snapshots(places: Sequence[Path | str]) -> OpenedSnapshots:
    """Return snapshots whose rows can be queried, without views.

    Raises: DamagedSnapshot if a column has the wrong type, a value is not valid in its column, or a
    table cannot be read.
    """
    opened = attach_snapshots_unchecked(places)
    with translate_read_errors(places):
        for wrong in _find_faults(opened):
            raise DamagedSnapshot(f'{format_places(places)} holds {wrong}: get the snapshot again')
    return opened


def _find_faults(opened: OpenedSnapshots) -> Iterator[object]:
    foreign = columns.find_foreign_files(opened.connection, opened.parts)
    for part in foreign:
        yield from columns.describe_wrong_columns(opened.connection, part)
    yield from forms.find_first_malformed_values(opened.connection, opened.rows, foreign)


def attach_snapshots_unchecked(places: Sequence[Path | str]) -> OpenedSnapshots:
    """Return snapshots as `attach_snapshots` does, without checking their values.

    For callers that only inspect the values. Raises: Fatal if a place is named twice.
    """
    import duckdb

    manifests = [
        (location, load_manifest_at(location)) for location in map(resolve_location, places)
    ]
    shown = [location.shown for location, _ in manifests]
    for name in shown:
        if shown.count(name) > 1:
            raise Fatal(f'{name} is named twice; name each snapshot once')
    contents = [content for _, content in manifests]
    connection = duckdb.connect(config=_NOTHING_FETCHED)
    connection.execute("SET TimeZone = 'UTC'")
    files = {
        name: [
            location.list_table_files(
                connection,
                get_table_name_in_files(name, parse_schema_version(content)),
                content['files'],
            )
            for location, content in manifests
        ]
        for name in TABLES
    }
    return OpenedSnapshots(
        connection=connection,
        parts=[
            TableFile(
                table=name,
                file=file,
                version=parse_schema_version(content),
                code_free=has_withheld_texts(content),
            )
            for name, those in files.items()
            for part, content in zip(those, contents, strict=True)
            for file in part
        ],
        rows={
            name: _build_rows_source(name, list(zip(those, contents, strict=True)))
            if any(those)
            else columns.build_empty_source(name)
            for name, those in files.items()
            if any(those) or name in NEW_TABLES
        },
    )


def is_interruption(error: RuntimeError) -> bool:
    """Return whether an error is DuckDB's word for Ctrl-C, which has no type of its own."""
    return type(error) is RuntimeError and str(error) == 'Query interrupted'


@contextmanager
def translate_read_errors(places: Sequence[Path | str]) -> Iterator[None]:
    """Turn an error of DuckDB in the block into DamagedSnapshot, which names the places.

    An interruption becomes a KeyboardInterrupt. Errors of coevo pass unchanged.
    """
    import duckdb

    try:
        yield
    except (duckdb.Error, UnicodeDecodeError) as error:
        raise _make_unreadable_error(places, error) from None
    except RuntimeError as error:
        if is_interruption(error):
            raise KeyboardInterrupt from None
        if type(error) is not RuntimeError:
            raise
        raise _make_unreadable_error(
            places, error
        ) from None  # a C++ exception that DuckDB does not translate


def _make_unreadable_error(places: Sequence[Path | str], error: Exception) -> DamagedSnapshot:
    return DamagedSnapshot(
        f'{format_places(places)} cannot be read ({summarise_error(error)}): get the snapshot again'
    )


def summarise_error(error: Exception) -> str:
    """Return DuckDB's message as one line. Of a Python traceback in it, return the last line."""
    lines = str(error).split('\n\n')[0].splitlines() or ['']
    return lines[-1] if lines[0].startswith('Traceback') else lines[0]


def format_places(places: Sequence[Path | str]) -> str:
    """Return places as one text, separated by spaces."""
    return ' '.join(map(str, places))


def load_into_memory(opened: OpenedSnapshots) -> OpenedSnapshots:
    """Return the snapshots with all rows in memory, for many queries on few rows.

    The connection then uses one thread, which is fastest for such queries. Each table has its own
    name, so that `create_views` adds no view for it: a query on a view takes twice as long to plan.
    """
    connection = opened.connection
    connection.execute('SET threads = 1')
    for name, rows in opened.rows.items():
        connection.execute(f'CREATE TABLE {name} AS SELECT * FROM {rows}')
    return replace(opened, rows={name: name for name in opened.rows})


def create_views(opened: OpenedSnapshots, conditions: Mapping[str, str]) -> None:
    """Create a view for each table, the views of coevo such as `standard`, and the macros `clean`.

    conditions  an SQL condition for the rows of a view, by its name; it may refer to views that
                come before
    """
    create_table_views(opened, conditions)
    connection = opened.connection
    for macro in cutoffs.MACROS:
        connection.execute(macro)
    connection.execute(
        f'CREATE VIEW standard AS SELECT * FROM methods WHERE {build_standard_condition()}'
    )
    connection.execute(
        f'CREATE VIEW standard_tasks AS SELECT * FROM tasks WHERE {_build_standard_tasks_condition()}'
    )
    connection.execute(f'CREATE VIEW verified AS SELECT * FROM standard_tasks WHERE {_VERIFIED}')
    connection.execute(f'CREATE VIEW tam_eval AS {TAM_EVAL}')
    connection.execute(
        f'CREATE VIEW permissive AS SELECT * FROM standard WHERE {_build_permissive_condition()}'
    )


def create_table_views(opened: OpenedSnapshots, conditions: Mapping[str, str]) -> None:
    """Create a view for each table, and none of the views and macros that coevo adds.

    A table that `load_into_memory` has loaded gets no view, nor does one that no snapshot has.

    conditions  as in `create_views`
    """
    connection = opened.connection
    for name in [*conditions, *(name for name in TABLES if name not in conditions)]:
        if opened.rows.get(name, name) != name:
            where = conditions.get(name, 'true')
            rows = opened.rows[name]
            connection.execute(f'CREATE VIEW {name} AS SELECT * FROM {rows} WHERE {where}')


def _build_rows_source(table: str, found: Sequence[tuple[Sequence[str], Mapping[str, Any]]]) -> str:
    """Return the FROM source of a table, given the files and the manifest of each snapshot."""
    there = [
        (_build_snapshot_source(table, files, content), content['month'])
        for files, content in found
        if files
    ]
    if len(found) == 1:
        return there[0][0]
    parts = (f'SELECT {quote_sql(month)} AS snapshot, * FROM {rows}' for rows, month in there)
    return f'({" UNION ALL BY NAME ".join(parts)})'


def _build_snapshot_source(table: str, files: Sequence[str], content: Mapping[str, Any]) -> str:
    """Return the FROM source of a table in one snapshot.

    Its columns have their current names; columns that are newer than the snapshot are null.
    """
    rows, version = build_parquet_source(files), parse_schema_version(content)
    missing = find_missing_columns(table, version)
    if version.major == 2:
        rows = schema_2.build_new_names_select(table, rows, list_columns(table, version))
    if not missing:
        return rows
    values = {name: f'NULL::{column.sql_type}' for name, column in missing.items()}
    if TEXTS_WITHHELD in values:
        values[TEXTS_WITHHELD] = _build_withheld_value(content)
    added = ', '.join(f'{value} AS {name}' for name, value in values.items())
    return f'(SELECT *, {added} FROM {rows})'


def _build_withheld_value(content: Mapping[str, Any]) -> str:
    """Return SQL for whether a row's texts are withheld, by the manifest of its snapshot."""
    if not has_withheld_texts(content):
        return 'false'
    filled = ', '.join(quote_sql(pair_id) for pair_id in sorted(list_filled_pairs(content)))
    return f'pair_id NOT IN ({filled})' if filled else 'true'


def parse_schema_version(content: Mapping[str, Any]) -> SchemaVersion:
    """Return the schema version that a manifest names; the first version had no minor number."""
    return SchemaVersion(int(content['schema_version']), int(content.get('schema_minor', 0)))


def load_manifest(path: Path | str) -> dict[str, Any]:
    """Return the manifest of a snapshot.

    Raises: DamagedSnapshot if there is none, Fatal if coevo is too old or too new for it.
    """
    return load_manifest_at(resolve_location(path))


def refuse_code_free_edition(place: Path | str, tasks: Collection[str] | None = None) -> None:
    """Raise Fatal for a code-free edition, which lacks the texts of all of its tasks.

    A partial edition passes, though some of its tasks lack their texts.
    tasks  the tasks whose texts are needed; None means all
    """
    if is_code_free(load_manifest(place)):
        raise Fatal(
            f'{place} is a code-free edition, without prompts, sources and patches: '
            f'{format_filling_command(place, *sorted(tasks or ()))} fills them in'
        )


def format_filling_command(place: Path | str, *tasks: str) -> str:
    """Return the command, in backquotes, that fills in the texts of these tasks, or of all.

    An ellipsis stands for the tasks after the first three.
    """
    shown = (*tasks[:_MOST_SHOWN], *(['…'] if len(tasks) > _MOST_SHOWN else []))
    named = f' --only-tasks {" ".join(shown)}' if shown else ''
    return f'`coevo get {place}{named}`'


def build_standard_condition() -> str:
    """Return the condition of the view `standard`, built from the label table."""
    rows = ' OR '.join(f'({_build_evidence_condition(row)})' for row in TABLE)
    usual = f"walk = 'parents' AND sandbox <> 'none' AND {RELATED} AND {build_no_leak_condition()}"
    return f'{usual} AND ({rows})'


_COEVOLUTION = Family.COEVOLUTION


def _build_standard_tasks_condition() -> str:
    """Return the condition of the view `standard_tasks`."""
    return (
        f"{build_no_leak_condition()} AND walk = 'parents' AND coalesce(family, '{_COEVOLUTION}') = '{_COEVOLUTION}'"
        ' AND NOT EXISTS (SELECT 1 FROM (SELECT'
        ' unnest(tasks.method_ids) AS id) WHERE id NOT IN (SELECT method_id FROM standard))'
    )


# A repair has a fault of its own, and so no change that it could reach. What is unknown is not
# verified.
_VERIFIED = (
    'trivial IS false AND moved IS false AND len(shown_by) = 0'
    f" AND (focus_agreed OR track = '{Track.REPAIR}')"
)


def _build_permissive_condition() -> str:
    """Return the condition for a permissive licence: one part of `A OR B`, both of `A AND B`."""
    ids = ', '.join(quote_sql(name) for name in licences.list_permissive())
    choice = f"list_bool_and([part IN ({ids}) FOR part IN string_split(choice, ' AND ')])"
    fine = f"list_bool_or([{choice} FOR choice IN string_split(license, ' OR ')])"
    return f'(pair_id, walk) IN (SELECT (pair_id, walk) FROM pairs WHERE {fine})'


def _build_evidence_condition(row: LabelTableRow) -> str:
    cells = (_build_cell_condition(cell, demand) for cell, demand in row.demands.items())
    return ' AND '.join((f"label = '{row.label}'", f"change = '{row.change}'", *cells))


def _build_cell_condition(cell: Cell, demand: CellDemand) -> str:
    if demand is CellDemand.PASS:
        return f"{cell} = 'pass' AND {cell}_runs >= {LEAST_RUNS} AND {cell}_passes = {cell}_runs"
    return (
        f"({cell} = 'compile_error' OR {cell}_passes = 0 AND ({cell}_runs >= {LEAST_RUNS} OR "
        f"{cell} = 'timeout' AND {cell}_runs >= {LEAST_TIMEOUTS}))"
    )
