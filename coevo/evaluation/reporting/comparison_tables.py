"""A comparison as tables for a terminal, or as JSON."""

from __future__ import annotations

import dataclasses
import json

from rich.console import Console
from rich.table import Table

from coevo.evaluation.reporting import cells
from coevo.evaluation.reporting.comparison import Comparison, TrackComparison


def print_comparison(comparison: Comparison, console: Console) -> None:
    """A table for each track; every figure stands over its 95 % interval."""
    for track in comparison.tracks:
        console.print(_make_table(track))
        if track.left_out:
            console.print(
                f'{cells.pluralise(track.left_out, "method")} could not be judged in both for trouble '
                'of ours and count nowhere',
                highlight=False,
            )
        console.print()
    first_engines, other = comparison.engines
    if first_engines != other:
        console.print(
            f'A was judged by engine {_format_versions(first_engines)}, B by {_format_versions(other)}: some differences may '
            'be theirs; evaluate both with the same coevo',
            highlight=False,
        )


def encode_comparison(comparison: Comparison) -> bytes:
    text = json.dumps(dataclasses.asdict(comparison), indent=1, allow_nan=False)
    return f'{text}\n'.encode()


def _make_table(track: TrackComparison) -> Table:
    table = cells.make_table(
        f'{cells.NAMES[track.track]} on {cells.pluralise(track.methods, "method")} across '
        f'{cells.pluralise(track.tasks, "task")}',
        ('',),
        ('A', 'B', 'B - A', 'units', 'repositories'),
    )
    for figure in track.figures:
        difference = figure.difference
        table.add_row(
            figure.name,
            cells.format_percent(figure.first),
            cells.format_percent(figure.second),
            cells.format_delta(difference),
            f'{difference.units:,}',
            f'{difference.repositories:,}',
        )
    return table


def _format_versions(found: tuple[str, ...]) -> str:
    return ' and '.join(map(str, found))
