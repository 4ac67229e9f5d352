"""Answers as text for a person, or as CSV, JSON or Parquet for a program."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING
from typing import Any

from coevo.display.terminal import visible
from coevo.model.errors import Fatal

if TYPE_CHECKING:
    import duckdb

    Answer = duckdb.DuckDBPyRelation

# A cell of a table on a terminal; the other formats give everything.
WIDTH = 60


def render(answer: Answer, format: str) -> bytes:
    """The whole answer in a format of `FORMATS`."""
    if format not in FORMATS:
        raise Fatal(f'{format!r} is no format: use one of {", ".join(FORMATS)}')
    return FORMATS[format](answer)


def columns(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Rows as lines with aligned columns; a column may keep to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        '  '.join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        )
        for row in rows
    )
    return ''.join(f'{line.rstrip()}\n' for line in lines)


def _table(answer: Answer) -> bytes:
    head, rows = _texts(answer)
    numbers = [_is_number(kind) for kind in answer.types]
    shown = [[_clip('' if text is None else text) for text in row] for row in rows]
    rule = ['-' * len(_clip(name)) for name in head]
    body = columns([list(map(_clip, head)), rule, *shown], numbers)
    return f'{body}({len(rows)} row{"" if len(rows) == 1 else "s"})\n'.encode()


def _csv(answer: Answer) -> bytes:
    head, rows = _texts(answer)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    writer.writerows([head, *rows])
    return out.getvalue().encode()


def _json(answer: Answer) -> bytes:
    rows = _dated(answer).to_arrow_table().to_pylist()
    text = json.dumps(rows, indent=1, ensure_ascii=False, default=_plain)
    return f'{text}\n'.encode()


def _parquet(answer: Answer) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(answer.to_arrow_table(), out, compression='zstd')
    return out.getvalue()


FORMATS: dict[str, Callable[[Answer], bytes]] = {
    'table': _table,
    'csv': _csv,
    'json': _json,
    'parquet': _parquet,
}


def _texts(answer: Answer) -> tuple[list[str], list[tuple[str | None, ...]]]:
    return answer.columns, _dated(answer).project('CAST(COLUMNS(*) AS VARCHAR)').fetchall()


def _dated(answer: Answer) -> Answer:
    """Times as text in ISO 8601: DuckDB needs another package to hand them to Python."""
    names = [_quoted(name) for name in answer.columns]
    return answer.project(
        ', '.join(
            f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS {name}"
            if str(kind) == 'TIMESTAMP WITH TIME ZONE'
            else name
            for name, kind in zip(names, answer.types, strict=True)
        )
    )


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _is_number(kind: object) -> bool:
    return str(kind).startswith(('TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'HUGE', 'U', 'DEC')) or (
        str(kind) in ('FLOAT', 'DOUBLE')
    )


def _clip(text: str) -> str:
    line = visible(' '.join(text.split()))
    return line if len(line) <= WIDTH else f'{line[: WIDTH - 1]}…'


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
