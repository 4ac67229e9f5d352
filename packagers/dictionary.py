"""Render the data dictionary as Markdown: `docs/schema.md` (`make docs`)."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from coevo.evaluation.records import MethodResult
from coevo.evaluation.results import NAME, SUITES_NAME as SUITES
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.column import Choice
from coevo.model.dictionary import list_entries, list_third_party_columns, map_columns_by_path
from coevo.model.reasons import BY_STAGE
from coevo.model.schema import CONTENTS, KEYS, SCHEMA_MINOR, SCHEMA_VERSION, TABLES

FILE = Path('docs/schema.md')

_HEAD = f"""\
# Tables and columns

<!-- Made by `make docs` from the records in coevo/model and coevo/evaluation; do not edit. -->

This page describes every table and column of a snapshot (schema {SCHEMA_VERSION}.{SCHEMA_MINOR}), the values of its choices, and
the reasons of its drops. The tables are in `data/TABLE/*.parquet`. The description of a column is also in the metadata of
its Parquet field and, if `coevo.open` opened the snapshot, in DuckDB: `SELECT column_name, comment FROM duckdb_columns()
WHERE table_name = 'methods'`. A column such as `mutation.killed` is a field of the group `mutation`."""

_CHOICES = """\
The meaning of each value of the columns whose type is a choice."""

_OF_OTHERS = """\
These columns are null in all rows of a code-free edition, since they contain text of the repositories or are made from it:
{}. Other columns have only names, places, versions, codes or sentences of coevo (`coevo/model/dictionary.py`)."""

_REASONS = """\
The values of `drops.reason`: why a commit, pair, test or task was left out, or why a labelled method has no track."""


def render_page() -> str:
    """Return the text of `docs/schema.md`."""
    blocks = (
        _HEAD,
        '## Tables',
        *_render_tables(),
        f'### `{NAME}`',
        'A row for each target of a task that `coevo evaluate` graded. It is no table of a snapshot.',
        _render_columns(MethodResult),
        f'### `{SUITES}`',
        'A row for each suite that `coevo evaluate` graded. It is no table of a snapshot.',
        _render_columns(SuiteResult),
        '## Text of others',
        _OF_OTHERS.format(', '.join(f'`{name}`' for name in list_third_party_columns(TABLES))),
        '## Values',
        _CHOICES,
        *_render_choices((*TABLES.values(), MethodResult, SuiteResult)),
        '## Reasons',
        _REASONS,
        *_render_reasons(),
    )
    return '\n\n'.join(blocks) + '\n'


def render_table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table in Markdown; `|` in a cell is escaped."""
    names = list(head)
    lines = [names, ['---'] * len(names), *(map(_escape_cell, row) for row in rows)]
    return '\n'.join(f'| {" | ".join(map(str, line))} |' for line in lines)


def _escape_cell(value: object) -> str:
    return str(value).replace('|', '\\|')


def _render_tables() -> Iterator[str]:
    for name, record in TABLES.items():
        keys = ', '.join(f'`{key}`' for key in KEYS[name])
        yield f'### `{name}`'
        yield f'{CONTENTS[name]} Key: {keys}.'
        yield _render_columns(record)


def _render_columns(record: type) -> str:
    rows = (
        (
            f'`{entry.path}`',
            f'{entry.kind}, null' if entry.nullable else entry.kind,
            entry.unit or '',
            f'{entry.sentence} See [{_name_choice_type(entry.values)}](#{_name_choice_type(entry.values).lower()}).'
            if entry.values
            else entry.sentence,
        )
        for entry in list_entries(record)
    )
    return render_table(('column', 'type', 'unit', 'meaning'), rows)


def _name_choice_type(values: tuple[Choice, ...]) -> str:
    return type(values[0]).__name__


def _render_choices(records: Iterable[type]) -> Iterator[str]:
    values_by_name = {
        _name_choice_type(entry.values): entry.values
        for record in records
        for entry in map_columns_by_path(record).values()
        if entry.values
    }
    for name, values in sorted(values_by_name.items()):
        yield f'### {name}'
        yield render_table(
            ('value', 'meaning'), ((f'`{entry.value}`', entry.clause) for entry in values)
        )


def _render_reasons() -> Iterator[str]:
    for stage, reasons in BY_STAGE.items():
        yield f'### {stage}: {stage.clause}'
        yield render_table(
            ('reason', 'meaning'), ((f'`{name}`', text) for name, text in reasons.items())
        )


def main() -> None:
    """Write the page to `docs/schema.md`.

    With `--check` nothing is written; the program fails if the page is not current.
    """
    if '--check' in sys.argv[1:]:
        raise SystemExit(FILE.read_text() != render_page() and f'{FILE} is not current: make docs')
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(render_page())


if __name__ == '__main__':
    main()
