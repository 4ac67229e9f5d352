"""A comparison as tables for a terminal, or as JSON."""

from __future__ import annotations

import dataclasses
import json

from rich.console import Console
from rich.table import Table

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.comparison import Comparison
from coevo.evaluation.reporting.comparison import TrackComparison


def show(comparison: Comparison, console: Console) -> None:
    """A table for each track; every figure stands over its 95 % interval."""
    for track in comparison.tracks:
        console.print(_table(track))
        if track.left_out:
            console.print(
                f'{cells.plural(track.left_out, "method")} could not be judged in both for trouble '
                'of ours and count nowhere',
                highlight=False,
            )
        console.print()
    one, other = comparison.engines
    if one != other:
        console.print(
            f'A was judged by engine {_versions(one)}, B by {_versions(other)}: some differences may '
            'be theirs; evaluate both with the same coevo',
            highlight=False,
        )


def encode(comparison: Comparison) -> bytes:
    text = json.dumps(dataclasses.asdict(comparison), indent=1, allow_nan=False)
    return f'{text}\n'.encode()


def _table(track: TrackComparison) -> Table:
    table = cells.table(
        f'{cells.NAMES[track.track]} on {cells.plural(track.methods, "method")} across '
        f'{cells.plural(track.tasks, "task")}',
        ('',),
        ('A', 'B', 'B - A', 'units', 'repositories'),
    )
    for figure in track.figures:
        difference = figure.difference
        table.add_row(
            figure.name,
            cells.percent(figure.first),
            cells.percent(figure.second),
            cells.delta(difference),
            f'{difference.units:,}',
            f'{difference.repositories:,}',
        )
    return table


def _versions(found: tuple[int, ...]) -> str:
    return ' and '.join(map(str, found))
