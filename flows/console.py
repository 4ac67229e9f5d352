"""What a person sees of a long run: progress with rich on a terminal, plain lines otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bar
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn
from rich.table import Table

from coevo.listener import Listener
from coevo.tables import Segment
from flows.funnel import Step
from flows.funnel import labels

if TYPE_CHECKING:
    from flows.pipeline import MineReport

# Without a terminal a line every so many pairs says that the run lives.
_LINES_EVERY = 10


# Where no terminal says how wide it is: reasons need room.
_WIDTH = 160


def open_console() -> Console:
    """As wide as the terminal, or wide enough for a log."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


@contextmanager
def showing(console: Console) -> Iterator[Listener]:
    """A listener for `flows.pipeline.mine`, for as long as the run lasts."""
    if not console.is_terminal:
        yield Listener(
            step=lambda step, done, total: _line(console, step, done, total), say=console.print
        )
        return
    columns = (TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn())
    with Bar(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        tasks = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total)
            bar.update(tasks[step], completed=done, total=total)

        yield Listener(step=show, say=console.print)


def _line(console: Console, step: str, done: int, total: int) -> None:
    if total > 1 and (done % _LINES_EVERY == 0 or done == total):
        console.print(f'{step}: {done} of {total}')


def print_report(
    console: Console, report: MineReport, steps: Sequence[Step], segments: Sequence[Segment]
) -> None:
    """What a run did, dropped and why."""
    console.print(
        f'{report.partition.repo} ({report.partition.walk}): {report.visited} commits visited, '
        f'{report.pairs} pairs, {report.executed} mined now, {report.reused} known before'
    )
    console.print(funnel_table(steps))
    counted = labels(segments)
    if counted:
        console.print('labels: ' + ', '.join(f'{name} {count}' for name, count in counted))
    for sentence in report.warnings:
        console.print(sentence)
    for pair_id, sentence in sorted(report.failures.items()):
        console.print(f'pair {pair_id} could not be mined now, run again: {sentence}')


def funnel_table(steps: Sequence[Step]) -> Table:
    table = Table(title='Funnel', title_justify='left')
    for heading in ('stage', 'unit'):
        table.add_column(heading)
    for heading in ('entered', 'kept', 'dropped'):
        table.add_column(heading, justify='right')
    table.add_column('reasons')
    for step in steps:
        reasons = ', '.join(f'{reason} {count}' for reason, count in step.dropped)
        dropped = step.entered - step.kept
        table.add_row(
            step.stage, step.stage.unit, str(step.entered), str(step.kept), str(dropped), reasons
        )
    return table
