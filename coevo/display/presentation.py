"""Query results as text for a person, or as CSV, JSON or Parquet for a program."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from coevo.display.terminal import escape_controls
from coevo.model.errors import Fatal

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

    Answer = duckdb.DuckDBPyRelation

# Longest text in a cell of a table on a terminal; the other formats are not shortened.
WIDTH = 60

# Bytes of an answer that is rendered in memory, and what one value costs beside its text. A join
# that someone wrote wrongly would otherwise take all memory of the machine.
MOST_BYTES = 1 << 28
_BYTES_PER_VALUE = 64
_ROWS_AT_ONCE = 10_000


def render_answer(answer: Answer, format: str) -> bytes:
    """Return a query result in one of the formats of `FORMATS`.

    Raises: Fatal for an unknown format, or if the answer is larger than `MOST_BYTES`.
    """
    if format not in FORMATS:
        raise Fatal(f'{format!r} is not a format; use one of {", ".join(FORMATS)}')
    return FORMATS[format](answer)


def align_columns(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Return rows as lines with aligned columns; `right` says which columns are right-aligned."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        '  '.join(
            text.rjust(width) if to_right else text.ljust(width)
            for text, width, to_right in zip(row, widths, right, strict=True)
        )
        for row in rows
    )
    return ''.join(f'{line.rstrip()}\n' for line in lines)


def _render_table(answer: Answer) -> bytes:
    head, rows = _fetch_texts(answer)
    numbers = [_is_number_type(kind) for kind in answer.types]
    shown = [[_clip_text('' if text is None else text) for text in row] for row in rows]
    rule = ['-' * len(_clip_text(name)) for name in head]
    body = align_columns([list(map(_clip_text, head)), rule, *shown], numbers)
    return f'{body}({len(rows)} row{"" if len(rows) == 1 else "s"})\n'.encode()


def _render_csv(answer: Answer) -> bytes:
    head, rows = _fetch_texts(answer)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator='\n')
    writer.writerows([head, *rows])
    return out.getvalue().encode()


def _render_json(answer: Answer) -> bytes:
    rows = _fetch_unless_too_large(_format_times(answer)).to_pylist()
    text = json.dumps(rows, indent=1, ensure_ascii=False, default=_convert_to_plain_value)
    return f'{text}\n'.encode()


def _render_parquet(answer: Answer) -> bytes:
    import pyarrow.parquet as pq

    out = io.BytesIO()
    pq.write_table(_fetch_unless_too_large(answer), out, compression='zstd')
    return out.getvalue()


FORMATS: dict[str, Callable[[Answer], bytes]] = {
    'table': _render_table,
    'csv': _render_csv,
    'json': _render_json,
    'parquet': _render_parquet,
}


def _fetch_texts(answer: Answer) -> tuple[list[str], list[tuple[str | None, ...]]]:
    table = _fetch_unless_too_large(_format_times(answer).project('CAST(COLUMNS(*) AS VARCHAR)'))
    return answer.columns, list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def _fetch_unless_too_large(answer: Answer) -> pa.Table:
    """Return all rows of a result. Raises: Fatal if they are larger than `MOST_BYTES`."""
    import pyarrow as pa

    batches, size = [], 0
    with answer.to_arrow_reader(_ROWS_AT_ONCE) as reader:
        for batch in reader:
            size += batch.nbytes + batch.num_rows * batch.num_columns * _BYTES_PER_VALUE
            if size > MOST_BYTES:
                raise Fatal(
                    f'The answer is larger than {MOST_BYTES >> 20} MiB; add a condition or a LIMIT, or '
                    'ask for fewer columns'
                )
            batches.append(batch)
        return pa.Table.from_batches(batches, reader.schema)


def _format_times(answer: Answer) -> Answer:
    """Return the result with times as ISO 8601 text.

    DuckDB would need another package to convert them for Python.
    """
    names = [_quote_name(name) for name in answer.columns]
    return answer.project(
        ', '.join(
            f"strftime({name} AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%SZ') AS {name}"
            if str(kind) == 'TIMESTAMP WITH TIME ZONE'
            else name
            for name, kind in zip(names, answer.types, strict=True)
        )
    )


def _quote_name(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _is_number_type(kind: object) -> bool:
    return str(kind).startswith(('TINYINT', 'SMALLINT', 'INT', 'BIGINT', 'HUGE', 'U', 'DEC')) or (
        str(kind) in ('FLOAT', 'DOUBLE')
    )


def _clip_text(text: str) -> str:
    line = escape_controls(' '.join(text.split()))
    return line if len(line) <= WIDTH else f'{line[: WIDTH - 1]}…'


def _convert_to_plain_value(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, date):
        return value.isoformat()
    return str(value)
