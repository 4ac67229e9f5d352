"""Progress of a long run: rich on a terminal, plain lines otherwise."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress as Bar,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.segment import Segment

from coevo.display import terminal
from coevo.display.terminal import escape_controls
from coevo.model.listener import Listener

# Without a terminal, a line is printed every so many steps or seconds to show that the run is
# alive; of few steps each has one, since they may be long. Of thousands of steps, so many lines are
# printed, and those that time asks for.
_LINES_EVERY = 10
_LINES_AFTER = 60
_MOST_LINES = 20

# Width in columns if there is no terminal; the reasons in a report need room.
_WIDTH = 160


def open_console(*, for_errors: bool = False) -> Console:
    """Return a console on standard output, as wide as the terminal or wide enough for a log.

    for_errors  on standard error instead
    """
    stream = terminal.get_raw_stream(sys.stderr if for_errors else sys.stdout)
    console = _SafeConsole(file=stream)
    return console if console.is_terminal else _SafeConsole(file=stream, width=_WIDTH)


class _SafeConsole(Console):
    """A console that may control the terminal, while control characters in texts are escaped."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Yield the segments of a renderable, with control characters in its texts escaped."""
        for segment in super().render(renderable, options):
            yield (
                segment
                if segment.control
                else segment._replace(text=self._make_printable(segment.text))
            )

    def _make_printable(self, text: str) -> str:
        return escape_controls(text).encode(self.encoding, 'backslashreplace').decode(self.encoding)


@contextmanager
def show_progress(
    console: Console, now: Callable[[], float] = time.monotonic
) -> Iterator[Listener]:
    """Provide a listener that shows the progress of a run: bars on a terminal, else lines of text.

    now  returns the time in seconds
    """
    if not console.is_terminal:
        lines = _ProgressLog(console, now)
        yield Listener(
            step=lines.log_step_if_due,
            summarise=lines.keep_finding_for_next_line,
            say=console.print,
        )
        return
    columns = (TextColumn('{task.description}'), BarColumn(), MofNCompleteColumn())
    ends = (TimeElapsedColumn(), TimeRemainingColumn(), TextColumn('{task.fields[found]}'))
    with Bar(*columns, *ends, console=console, transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def show_step(step: str, done: int, total: int) -> None:
            """Move the bar of a step, and add the bar if the step is new."""
            if step not in tasks:
                tasks[step] = bar.add_task(step, total=total, found='')
            bar.update(tasks[step], completed=done, total=total)

        def show_finding(words: str) -> None:
            """Show the latest finding beside every bar."""
            for task in tasks.values():
                bar.update(task, found=words)

        yield Listener(step=show_step, summarise=show_finding, say=console.print)


class _ProgressLog:
    """Progress for a log: occasional lines with an estimate of the remaining time."""

    def __init__(self, console: Console, now: Callable[[], float]) -> None:
        self._console = console
        self._now = now
        self._found = ''
        self._begun: dict[str, float] = {}
        self._said: dict[str, float] = {}

    def keep_finding_for_next_line(self, words: str) -> None:
        """Store the findings to print with the next line."""
        self._found = words

    def log_step_if_due(self, step: str, done: int, total: int) -> None:
        """Print a line if enough steps or time have passed since the last line.

        The last step always has one. Nothing is printed for a total of 1.
        """
        now = self._now()
        begun = self._begun.setdefault(step, now)
        waited = now - self._said.setdefault(step, now) >= _LINES_AFTER
        every = max(_LINES_EVERY, total // _MOST_LINES) if total > _LINES_EVERY else 1
        if total > 1 and (waited or done % every == 0 or done == total):
            self._said[step] = now
            parts = (
                f'{step}: {done} of {total}',
                self._found,
                _format_time_left(now - begun, done, total),
            )
            self._console.print('; '.join(part for part in parts if part), highlight=False)


def _format_time_left(seconds_since: float, done: int, total: int) -> str:
    """Return the estimated remaining time by the pace so far.

    Empty after too few steps, and when all are done.
    """
    if done < _LINES_EVERY or done == total:
        return ''
    seconds = seconds_since / (done - 1) * (total - done)
    if seconds < 90:
        return f'about {seconds:.0f} s left'
    minutes = seconds / 60
    return f'about {minutes:.0f} min left' if minutes < 90 else f'about {minutes / 60:.0f} h left'
