"""Pages of `coevo show` for rows that left the funnel: which test, at which stage, and why."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from coevo.model.reasons import explain_reason
from coevo.model.words import Stage
from coevo.snapshots import show_blocks as blocks

if TYPE_CHECKING:
    import duckdb

    from coevo.snapshots.show_blocks import Row

# Most rows shown for one reason; a sample may leave out thousands of tests of a pair.
_MOST = 20


def render_drops(connection: duckdb.DuckDBPyConnection, id: str) -> list[str]:
    """Return a text for each walk under which a commit, pair, method or task left the funnel.

    Empty if nothing with this key did.
    """
    return [
        _render_drop(id, row) for row in blocks.load_rows_with_value(connection, 'drops', 'key', id)
    ]


def _render_drop(id: str, row: Row) -> str:
    stage = Stage(row['stage'])
    return blocks.align_lines(
        [
            (row['unit'], f'{id}: left at stage {stage}, {stage.clause}'),
            ('test', blocks.format_method_name(row) if row['test_method'] else ''),
            ('test file', row['test_file'] or ''),
            ('change', row['change'] or ''),
            ('repository', row['repo']),
            ('pair', blocks.join_parts(row['pair_id'], row['walk'])),
            ('because', next(explain_reasons([row]))),
        ]
    )


def explain_reasons(drops: Sequence[Row]) -> Iterator[str]:
    """Yield each reason as a sentence, once even if several walks have it."""
    for reason, detail in dict.fromkeys((row['reason'], row['detail']) for row in drops):
        yield f'{explain_reason(reason)}{f": {detail}" if detail else ""}'


def render_by_reason(drops: Sequence[Row]) -> str:
    """Return the dropped rows below a sentence for each reason, the most frequent reason first."""
    groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for row in drops:
        groups[row['stage'], row['reason']].append(row)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return '\n'.join(line for (_, reason), rows in ordered for line in _render_group(reason, rows))


def _render_group(reason: str, rows: Sequence[Row]) -> Iterator[str]:
    yield f'{len(rows):>5}  {explain_reason(reason)}'
    for row in rows[:_MOST]:
        what = blocks.format_method_name(row) if row['test_method'] else row['test_file'] or ''
        yield f'       {blocks.join_parts(row["key"], row["change"], what)}'
    if len(rows) > _MOST:
        yield f'       and {len(rows) - _MOST} more'
