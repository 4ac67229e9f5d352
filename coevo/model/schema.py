"""The conversion of records to Arrow, and the schema of every table of a snapshot."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from functools import cache
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

import pyarrow as pa

from coevo.model import schema_2
from coevo.model.column import Column, split_optional
from coevo.model.dictionary import find_third_party_paths, split_annotation
from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import CellRow, PairRow, TimingRow
from coevo.model.quality import ExecutedRow, MutantRow, RefactoringRow, ReversalRow
from coevo.model.records import Drop
from coevo.model.repository_rows import RepositoryRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow, WithdrawnRow


class SchemaVersion(NamedTuple):
    """The version of a snapshot's schema.

    major  raised when a column is removed, renamed or redefined; CHANGELOG lists these changes
    minor  raised when a table or column is added; it reads as null in earlier snapshots
    """

    major: int
    minor: int


SCHEMA = SchemaVersion(3, 0)
SCHEMA_VERSION, SCHEMA_MINOR = SCHEMA

OLDEST_SCHEMA = 2
"""The oldest major version that can be read, through the names in `coevo.model.schema_2`."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AddedColumn:
    """A column that was added later: the first version that has it, and its SQL type."""

    version: SchemaVersion
    sql_type: str


_FOCUS = (
    'STRUCT(file VARCHAR, declaration VARCHAR, kind VARCHAR, start_line BIGINT, end_line BIGINT)[]'
)
_MAINTAINED = (
    'STRUCT(old_method VARCHAR, new_method VARCHAR, label VARCHAR, expected_action VARCHAR)[]'
)
_DEMANDED = 'STRUCT(method_id VARCHAR, test_file VARCHAR, test_method VARCHAR, role VARCHAR)[]'
_EXECUTING = (
    'STRUCT(test_file VARCHAR, test_class VARCHAR, test_method VARCHAR, parameters VARCHAR[])[]'
)
_SUITE_COUNTS = (
    *('tests', 'passing', 'lines', 'covered_lines', 'branches', 'covered_branches'),
    *('methods', 'covered_methods', 'mutants', 'killed'),
)
_SUITE = f'STRUCT({", ".join(f"{name} BIGINT" for name in _SUITE_COUNTS)})'

ADDED: dict[str, dict[str, AddedColumn]] = {
    'methods': {
        'measured': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
        'strict_askable': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
        'texts_withheld': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
    },
    'mutants': {
        'texts_withheld': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
    },
    'drops': {
        'test_file': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'test_class': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'test_method': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'parameters': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR[]'),
        'change': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'language': AddedColumn(version=SchemaVersion(2, 2), sql_type='VARCHAR'),
    },
    'pairs': {
        'engine_version': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR'),
        'changed_kinds': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR[]'),
        'absent_files': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR[]'),
        'runtime_missing': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'tests_compared': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'tests_alike': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'tests_undrawn': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'tests_apart': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'umpire_old': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR'),
        'umpire_new': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR'),
        'functions': AddedColumn(version=SchemaVersion(2, 2), sql_type='BIGINT'),
        'function_lines': AddedColumn(version=SchemaVersion(2, 2), sql_type='BIGINT'),
        'complexity': AddedColumn(version=SchemaVersion(2, 2), sql_type='BIGINT'),
        'parameters': AddedColumn(version=SchemaVersion(2, 2), sql_type='BIGINT'),
        'file_commits': AddedColumn(version=SchemaVersion(2, 2), sql_type='BIGINT'),
        'file_contributors': AddedColumn(version=SchemaVersion(2, 2), sql_type='BIGINT'),
        'file_age_days': AddedColumn(version=SchemaVersion(2, 2), sql_type='DOUBLE'),
        'lines_added': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'lines_removed': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'hunks': AddedColumn(version=SchemaVersion(3, 0), sql_type='BIGINT'),
        'dmm_size': AddedColumn(version=SchemaVersion(3, 0), sql_type='DOUBLE'),
        'dmm_complexity': AddedColumn(version=SchemaVersion(3, 0), sql_type='DOUBLE'),
        'dmm_interfacing': AddedColumn(version=SchemaVersion(3, 0), sql_type='DOUBLE'),
        'later_license': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR'),
    },
    'tasks': {
        'trivial': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
        'moved': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
        'shown_by': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR[]'),
        'reached': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR[]'),
        'start_files': AddedColumn(version=SchemaVersion(3, 0), sql_type='VARCHAR'),
        'focus_agreed': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
        'strict_askable': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
        'focal_source': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'family': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'scenario': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'focus': AddedColumn(version=SchemaVersion(2, 1), sql_type=_FOCUS),
        'start_builder': AddedColumn(version=SchemaVersion(2, 1), sql_type='VARCHAR'),
        'start_adequacy': AddedColumn(version=SchemaVersion(2, 1), sql_type=_SUITE),
        'gold_adequacy': AddedColumn(version=SchemaVersion(2, 1), sql_type=_SUITE),
        'defect': AddedColumn(version=SchemaVersion(2, 3), sql_type='VARCHAR'),
        'unit_date': AddedColumn(version=SchemaVersion(2, 1), sql_type='TIMESTAMPTZ'),
        'maintained': AddedColumn(version=SchemaVersion(2, 4), sql_type=_MAINTAINED),
        'demanded': AddedColumn(version=SchemaVersion(3, 0), sql_type=_DEMANDED),
        'unit': AddedColumn(version=SchemaVersion(2, 5), sql_type='VARCHAR'),
        'complexity': AddedColumn(version=SchemaVersion(2, 5), sql_type='BIGINT'),
        'executing_tests': AddedColumn(version=SchemaVersion(2, 5), sql_type='BIGINT'),
        'executing_files': AddedColumn(version=SchemaVersion(2, 5), sql_type='BIGINT'),
        'texts_withheld': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
    },
    'single_revision': {
        'family': AddedColumn(version=SchemaVersion(2, 3), sql_type='VARCHAR'),
        'start_builder': AddedColumn(version=SchemaVersion(2, 3), sql_type='VARCHAR'),
        'start_adequacy': AddedColumn(version=SchemaVersion(2, 3), sql_type=_SUITE),
        'start_rev': AddedColumn(version=SchemaVersion(2, 3), sql_type='VARCHAR'),
        'defect': AddedColumn(version=SchemaVersion(2, 3), sql_type='VARCHAR'),
        'start_patch': AddedColumn(version=SchemaVersion(2, 3), sql_type='VARCHAR'),
        'unit': AddedColumn(version=SchemaVersion(2, 5), sql_type='VARCHAR'),
        'complexity': AddedColumn(version=SchemaVersion(2, 5), sql_type='BIGINT'),
        'executing_tests': AddedColumn(version=SchemaVersion(2, 5), sql_type=_EXECUTING),
        'texts_withheld': AddedColumn(version=SchemaVersion(3, 0), sql_type='BOOLEAN'),
    },
}
"""Columns that tables of earlier versions lack, by table."""

NEW_TABLES = {'single_revision': SchemaVersion(2, 1)}
"""Tables that were added later, each with the first version that has it."""

TABLES: dict[str, type] = {
    'methods': MethodRow,
    'tasks': TaskRow,
    'single_revision': SingleRevisionRow,
    'cells': CellRow,
    'dependency_map': ExecutedRow,
    'mutants': MutantRow,
    'reversals': ReversalRow,
    'refactorings': RefactoringRow,
    'pairs': PairRow,
    'repositories': RepositoryRow,
    'drops': Drop,
    'withdrawn': WithdrawnRow,
    'timings': TimingRow,
}

CONTENTS: dict[str, str] = {
    'methods': 'Every labelled test method of every pair and walk, with its cells.',
    'tasks': 'Test methods of one track in one test file of one pair, ready to attempt and score.',
    'single_revision': 'Test files of a revision: how stable they are, and what they execute.',
    'cells': 'Every single run of a test method in a cell.',
    'dependency_map': 'Every production method that a labelled test executed, at old and at new.',
    'mutants': 'Mutants of the new code, and what the test did with each.',
    'reversals': 'Each changed declaration undone alone, and whether the test noticed.',
    'refactorings': 'The refactorings that were found in a pair.',
    'pairs': 'The pairs of adjacent revisions that were looked at.',
    'repositories': 'The repositories, walks and cutoffs.',
    'drops': 'Everything that left the funnel, with the reason.',
    'withdrawn': 'What earlier snapshots had and this one does not, with the reason.',
    'timings': 'What each step cost; outside of the checksums.',
}
"""A description of each table's rows."""

# The columns that together identify a row of a table.
KEYS: dict[str, tuple[str, ...]] = {
    'methods': ('method_id', 'walk'),
    'tasks': ('task_id',),
    'single_revision': ('suite_id', 'walk'),
    'cells': ('method_id', 'walk', 'cell', 'repeat'),
    'dependency_map': ('method_id', 'walk', 'end', 'type', 'method', 'descriptor'),
    'mutants': ('method_id', 'walk', 'mutant_id'),
    'reversals': ('method_id', 'walk', 'file', 'start_line', 'revised', 'declaration'),
    'refactorings': ('pair_id', 'walk', 'number'),
    'pairs': ('pair_id', 'walk'),
    'repositories': ('repo', 'language', 'walk'),
    'drops': ('repo', 'walk', 'stage', 'key', 'reason', 'language'),
    'withdrawn': ('table', 'id', 'month'),
    'timings': ('pair_id', 'walk', 'step'),
}

_PLAIN = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}


def is_table_promised(table: str, version: SchemaVersion) -> bool:
    """Return whether every snapshot of a version has this table.

    False for a table that was added after that version.
    """
    return table not in NEW_TABLES or NEW_TABLES[table] <= version


def find_missing_columns(table: str, version: SchemaVersion) -> dict[str, AddedColumn]:
    """Return the columns, by name, that were added to a table after a version."""
    return {
        name: column for name, column in ADDED.get(table, {}).items() if column.version > version
    }


def get_table_name_in_files(table: str, version: SchemaVersion) -> str:
    """Return the name of a table in the files of snapshots of a version.

    Example: in schema 2 the files of `single_revision` are called `standing`.
    """
    return schema_2.TABLES.get(table, table) if version.major == 2 else table


def list_columns(
    table: str, version: SchemaVersion, *, code_free: bool = False
) -> tuple[pa.Field, ...]:
    """Return the columns that a table has in a version, under the names of the current schema."""
    missing = find_missing_columns(table, version)
    promised = build_table_schema(table, code_free=code_free)
    return tuple(field for field in promised if field.name not in missing)


def list_columns_in_files(
    table: str, version: SchemaVersion, *, code_free: bool = False
) -> tuple[pa.Field, ...]:
    """Return the columns of a table's files in a version, under the names of that version."""
    fields = list_columns(table, version, code_free=code_free)
    return tuple(schema_2.rename_back(table, fields)) if version.major == 2 else fields


def has_promised_columns(
    table: str, file_schema: pa.Schema, version: SchemaVersion, *, code_free: bool = False
) -> bool:
    """Return whether a file has the columns that its version promises, with their types and order.

    A file of a version newer than this coevo's may have more columns.
    """
    wanted = pa.schema(list_columns_in_files(table, version, code_free=code_free))
    if version > SCHEMA:
        file_schema = pa.schema(field for field in file_schema if field.name in wanted.names)
    return bool(file_schema.equals(wanted))


def build_arrow_schema(record: type) -> pa.Schema:
    """Return the Arrow schema of a record type: a column for each field, in the same order."""
    return _build_arrow_schema(record)


@cache
def _build_arrow_schema(record: type) -> pa.Schema:
    return pa.schema(_build_fields(record))


def build_table_schema(table: str, *, code_free: bool = False) -> pa.Schema:
    """Return the Arrow schema of a table.

    In a code-free edition, columns with third-party text are nullable, and null in all rows.
    """
    whole = build_arrow_schema(TABLES[table])
    empty = find_third_party_paths(TABLES[table])
    if not code_free or not empty:
        return whole
    return pa.schema(_make_fields_nullable(list(whole), empty, ''))


def _make_fields_nullable(
    fields: Sequence[pa.Field], empty: Collection[str], prefix: str
) -> list[pa.Field]:
    return [_make_field_nullable(field, empty, f'{prefix}{field.name}') for field in fields]


def _make_field_nullable(field: pa.Field, empty: Collection[str], path: str) -> pa.Field:
    if path in empty:
        return field.with_nullable(True)
    kind = field.type
    if pa.types.is_list(kind) and pa.types.is_struct(kind.value_type):
        inner = pa.struct(_make_fields_nullable(list(kind.value_type), empty, f'{path}.'))
        return field.with_type(pa.list_(kind.value_field.with_type(inner)))
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct(_make_fields_nullable(list(kind), empty, f'{path}.')))
    return field


def build_table(record: type, rows: Sequence[Any]) -> pa.Table:
    """Return rows of one record type as a table.

    Arrow itself accepts a null in any column, and unknown or missing keys of a dict; this function
    is strict.

    Raises: TypeError for a row of another type; ValueError for a null where none is allowed.
    """
    for row in rows:
        if type(row) is not record:
            raise TypeError(f'a row of {record.__name__} cannot be a {type(row).__name__}')
    schema = build_arrow_schema(record)
    columns = [_build_array(field, [getattr(row, field.name) for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def build_table_of_plain_rows(schema: pa.Schema, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return rows that Arrow gave back (`to_pylist`) as a table with the columns of a schema.

    Raises: ValueError for a null where none is allowed.
    """
    columns = [_build_array(field, [row[field.name] for row in rows]) for field in schema]
    return pa.Table.from_arrays(columns, schema=schema)


def _build_fields(record: type) -> list[pa.Field]:
    hints = get_type_hints(record, include_extras=True)
    return [
        _build_field(item.name, *split_annotation(hints[item.name]))
        for item in dataclasses.fields(record)
    ]


def _build_field(name: str, hint: Any, column: Column | None = None) -> pa.Field:
    inner, nullable = split_optional(hint)
    return pa.field(
        name, _find_arrow_type(inner), nullable=nullable, metadata=_build_metadata(column)
    )


def _build_metadata(column: Column | None) -> dict[str, str] | None:
    """Return the description and unit that Parquet stores with a field; None without a `Column`."""
    if column is None:
        return None
    unit = {'unit': column.unit} if column.unit else {}
    return {'description': column.sentence, **unit}


def _find_arrow_type(hint: Any) -> pa.DataType:
    if get_origin(hint) is tuple:
        return pa.list_(_build_field('element', get_args(hint)[0]))
    if dataclasses.is_dataclass(hint):
        return pa.struct(_build_fields(hint))  # type: ignore[arg-type]  # a type, as hints are
    if issubclass(hint, StrEnum):
        return pa.dictionary(pa.int32(), pa.string())
    if hint is datetime:
        return pa.timestamp('us', tz='UTC')
    return _PLAIN[hint]


def _build_array(field: pa.Field, values: list[Any]) -> pa.Array:
    if not field.nullable and None in values:
        raise ValueError(f'{field.name} may not be null')
    plain = [_to_arrow_value(value) for value in values]
    return pa.array(plain, type=field.type)


def _to_arrow_value(value: Any) -> Any:
    """Return a value in a form that Arrow accepts.

    Dataclasses become dicts, and tuples become lists. In strings, surrogates (which stand for bytes
    that are not UTF-8) become escapes.
    """
    if isinstance(value, str):
        return value if value.isascii() else value.encode('utf-8', 'backslashreplace').decode()
    if isinstance(value, tuple | list):
        return [_to_arrow_value(item) for item in value]
    if dataclasses.is_dataclass(value):
        return {
            item.name: _to_arrow_value(getattr(value, item.name))
            for item in dataclasses.fields(value)
        }
    return value
