"""Cells and frames of tables for a terminal; what strangers wrote steers none."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable
from collections.abc import Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from coevo.display.terminal import visible
from coevo.evaluation.reporting.bootstrap import Estimate
from coevo.model.words import Track

NAMES = {
    Track.GENERATION: 'Test generation',
    Track.UPDATE: 'Test update',
    Track.REPAIR: 'Test repair',
}

DASH = '–'  # noqa: RUF001  # of nothing; a hyphen looks like a minus

# Of every table: a terminal that nobody has widened shows it whole.
WIDTH = 80

Shown = Callable[[float], str]


def table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """An empty one; the columns of words come first, those of figures then."""
    made = Table(
        title=Text(title),
        title_justify='left',
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        pad_edge=False,
        show_edge=False,
        min_width=min(len(title), WIDTH),
    )
    for name in left:
        made.add_column(name)
    for name in right:
        made.add_column(name, justify='right')
    return made


def figure(estimate: Estimate | None, main: Shown, end: Shown) -> Text:
    """A value over the ends of its interval."""
    if estimate is None or estimate.value is None:
        return Text(DASH)
    text = Text(main(estimate.value))
    if estimate.low is not None and estimate.high is not None:
        text.append(f'\n{span(estimate, end)}', style='dim')
    return text


def span(estimate: Estimate, end: Shown) -> str:
    """The ends of its interval, which has some."""
    assert estimate.low is not None
    assert estimate.high is not None
    low, high = end(estimate.low), end(estimate.high)
    return f'{low}{"…" if low[:1] in "+-" else DASH}{high}'


def percent(estimate: Estimate | None) -> Text:
    return figure(estimate, lambda value: f'{value * 100:.1f}%', lambda value: f'{value * 100:.1f}')


def plain_percent(estimate: Estimate) -> str:
    """The value alone, for a sentence."""
    return figure(replace(estimate, low=None), '{:.1%}'.format, str).plain


def delta(estimate: Estimate) -> Text:
    """Signed, with three decimals like the paper's."""
    return figure(
        estimate, lambda value: f'{value * 100:+.3f}%', lambda value: f'{value * 100:+.1f}'
    )


def dollars(estimate: Estimate) -> Text:
    return figure(estimate, '${:.2f}'.format, '{:.2f}'.format)


def thousands(estimate: Estimate) -> Text:
    def shown(value: float) -> str:
        return f'{value / 1000:.1f}k'

    return figure(estimate, shown, shown)


def number(estimate: Estimate) -> Text:
    return figure(estimate, '{:.1f}'.format, '{:.1f}'.format)


def joined(names: Iterable[str | None]) -> str:
    """Names of strangers, as they are but for what a terminal would obey."""
    known = sorted({visible(name) for name in names if name})
    return escape(', '.join(known)) or DASH


def plural(count: int, word: str) -> str:
    return f'{count:,} {word}{"" if count == 1 else "s"}'
