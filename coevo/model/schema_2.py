"""The names of schema 2 by their names in schema 3, so that snapshots of schema 2 remain readable.

All other modules use the names of schema 3. Example: `told_cnew` of schema 2 is `t_old_c_new` here,
and a row of its table `standing` is read as a row of `single_revision`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from coevo.model.words import Cell

TABLES: Mapping[str, str] = {'single_revision': 'standing'}

_CELLS: Mapping[str, str] = {
    Cell.T_OLD_C_OLD: 'told_cold',
    Cell.T_NEW_C_NEW: 'tnew_cnew',
    Cell.T_OLD_C_NEW: 'told_cnew',
    Cell.T_NEW_C_OLD: 'tnew_cold',
}
_CELL_COLUMNS = ('', '_unit', '_passes', '_runs', '_signature')

COLUMNS: Mapping[str, Mapping[str, str]] = {
    'methods': {
        f'{cell}{suffix}': f'{was}{suffix}'
        for cell, was in _CELLS.items()
        for suffix in _CELL_COLUMNS
    },
    'single_revision': {'suite_id': 'standing_id', 'unstable': 'unsteady'},
}
"""Renamed columns, by table."""

FIELDS: Mapping[tuple[str, str], Mapping[str, str]] = {
    ('methods', 'isolated'): _CELLS,
    ('methods', 'guard'): {f'clock_{cell}': f'clock_{was}' for cell, was in _CELLS.items()},
    ('tasks', 'maintained'): {'expected_action': 'duty'},
}
"""Renamed fields of structs, by table and column."""

_WALKS = {'single_revision': 'standing'}
_REASONS = {
    'pass_not_confirmed': 'pass_doubted',
    'unstable': 'not_steady',
    'third_party_file': 'file_of_others',
}

NUMBERS = {('repositories', 'engine_version')}
"""Columns that are integers in files of schema 2 and text in schema 3."""

VALUES: Mapping[str, Mapping[str, str]] = {
    'walk': _WALKS,
    'stage': {'filter': 'sieve', **_WALKS},
    'reason': _REASONS,
    'cell': _CELLS,
    'table': TABLES,
}
"""Renamed values by column, in all tables."""

BEGINNINGS: Mapping[str, Mapping[str, str]] = {
    'reason': {f'{cell}_': f'{was}_' for cell, was in _CELLS.items()},
    'detail': {f'{cell}_': f'{was}_' for cell, was in _CELLS.items()},
}
"""Renamed beginnings of values, by column.

Example: the reason `t_old_c_new_skipped` was `told_cnew_skipped`.
"""

_VALUES_OF_TABLES = {
    'drops': ('stage', 'reason', 'detail'),
    'cells': ('cell',),
    'withdrawn': ('table',),
}


def rename_back(table: str, fields: Sequence[pa.Field]) -> list[pa.Field]:
    """Return the columns of a table as files of schema 2 have them: with its names and integers.

    The names of columns and of fields in structs are those of schema 2; the columns of `NUMBERS`
    are integers.
    """
    columns = COLUMNS.get(table, {})
    numbers = {name for numbered, name in NUMBERS if numbered == table}
    return [
        _rename_fields(
            field.with_type(pa.int64()) if field.name in numbers else field,
            FIELDS.get((table, field.name), {}),
        ).with_name(columns.get(field.name, field.name))
        for field in fields
    ]


def _rename_fields(field: pa.Field, names: Mapping[str, str]) -> pa.Field:
    kind = field.type
    if not names:
        return field
    if pa.types.is_list(kind):
        inner = _rename_fields(kind.value_field, names)
        return field.with_type(pa.list_(inner))
    return field.with_type(
        pa.struct([child.with_name(names.get(child.name, child.name)) for child in kind])
    )


def build_new_names_select(table: str, rows: str, fields: Sequence[pa.Field]) -> str:
    """Return SQL that reads `rows`, a FROM clause with columns of schema 2, by the names of schema
    3.

    fields  the columns that the files hold, by their names in schema 3
    """
    return f'(SELECT {", ".join(_list_selected_columns(table, fields, to_old=False))} FROM {rows})'


def build_old_names_select(table: str, rows: str, fields: Sequence[pa.Field]) -> str:
    """Return SQL that reads `rows`, a FROM clause with columns of schema 3, by schema 2's names."""
    return f'(SELECT {", ".join(_list_selected_columns(table, fields, to_old=True))} FROM {rows})'


def map_old_names_in_text(text: str) -> dict[str, str]:
    """Return the columns and tables of schema 2 that a text names, with their names in schema 3."""
    renamed = {
        old: new
        for names in (TABLES, *COLUMNS.values(), *FIELDS.values())
        for new, old in names.items()
    }
    words = dict.fromkeys(re.findall(r'\w+', text))
    return {word: renamed[word] for word in words if word in renamed}


def rename_manifest(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest of schema 2 with the table and walk names of schema 3.

    Engine versions become text. The names of its files are paths and stay as they are.
    """
    tables = {was: name for name, was in TABLES.items()}
    walks = {was: name for name, was in _WALKS.items()}
    return {
        **manifest,
        'rows': {tables.get(table, table): count for table, count in manifest['rows'].items()},
        'walks': [
            {
                **walk,
                'walk': walks.get(walk['walk'], walk['walk']),
                'engine_version': str(walk['engine_version']),
            }
            for walk in manifest['walks']
        ],
    }


def _list_selected_columns(
    table: str, fields: Sequence[pa.Field], *, to_old: bool
) -> Iterator[str]:
    columns = COLUMNS.get(table, {})
    for field in fields:
        old = columns.get(field.name, field.name)
        source, target = (field.name, old) if to_old else (old, field.name)
        expression = f'"{source}"'
        names = FIELDS.get((table, field.name))
        if (table, field.name) in NUMBERS:
            kind = 'BIGINT' if to_old else 'VARCHAR'
            expression = f'TRY_CAST({expression} AS {kind})'
        elif names is not None:
            expression = _build_struct_renaming_sql(expression, field.type, names, to_old=to_old)
        elif field.name == 'walk' or field.name in _VALUES_OF_TABLES.get(table, ()):
            expression = _build_value_renaming_sql(expression, field.name, to_old=to_old)
        yield f'{expression} AS "{target}"'


def _build_struct_renaming_sql(
    value: str, kind: pa.DataType, names: Mapping[str, str], *, to_old: bool
) -> str:
    if pa.types.is_list(kind):
        inner = _build_struct_renaming_sql('item', kind.value_type, names, to_old=to_old)
        return f'list_transform({value}, lambda item: {inner})'
    pairs = [(child.name, names.get(child.name, child.name)) for child in kind]
    parts = ', '.join(
        f"'{old if to_old else new}': {value}.{new if to_old else old}" for new, old in pairs
    )
    return f'CASE WHEN {value} IS NULL THEN NULL ELSE {{{parts}}} END'


def _build_value_renaming_sql(value: str, column: str, *, to_old: bool) -> str:
    cases = [
        f"WHEN {value} = '{new if to_old else old}' THEN '{old if to_old else new}'"
        for new, old in VALUES.get(column, {}).items()
    ]
    for new, old in BEGINNINGS.get(column, {}).items():
        source, target = (new, old) if to_old else (old, new)
        rest = f'substr({value}, {len(source) + 1})'
        cases.append(f"WHEN starts_with({value}, '{source}') THEN '{target}' || {rest}")
    return f'CASE {" ".join(cases)} ELSE {value} END' if cases else value
