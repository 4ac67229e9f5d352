"""What a person sees of a long run: progress with rich on a terminal, plain lines otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bar
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn

from coevo.listener import Listener

# Without a terminal a line every so many steps says that the run lives.
_LINES_EVERY = 10

# Where no terminal says how wide it is: reasons need room.
_WIDTH = 160


def open_console() -> Console:
    """As wide as the terminal, or wide enough for a log."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


@contextmanager
def showing(console: Console) -> Iterator[Listener]:
    """A listener for as long as a run lasts."""
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
