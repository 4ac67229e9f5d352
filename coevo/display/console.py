"""What a person sees of a long run: progress with rich on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.console import ConsoleOptions
from rich.console import RenderableType
from rich.progress import BarColumn
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bar
from rich.progress import TextColumn
from rich.progress import TimeElapsedColumn
from rich.segment import Segment

from coevo.display import terminal
from coevo.display.terminal import visible
from coevo.model.listener import Listener

# Without a terminal a line every so many steps says that the run lives.
_LINES_EVERY = 10

# Where no terminal says how wide it is: reasons need room.
_WIDTH = 160


def open_console() -> Console:
    """As wide as the terminal, or wide enough for a log."""
    stream = terminal.raw(sys.stdout)
    console = _Console(file=stream)
    return console if console.is_terminal else _Console(file=stream, width=_WIDTH)


class _Console(Console):
    """Draws, hence says things to a terminal; the texts that it draws do not."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=self._plain(segment.text))

    def _plain(self, text: str) -> str:
        return visible(text).encode(self.encoding, 'backslashreplace').decode(self.encoding)


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
