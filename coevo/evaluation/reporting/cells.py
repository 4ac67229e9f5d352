"""Cells and frames of tables for a terminal; what strangers wrote steers none."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from coevo.display.terminal import escape_controls
from coevo.evaluation.reporting.bootstrap import MeanEstimate
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


def make_table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    """An empty one; the columns of words come first, those of figures then."""
    new_table = Table(
        title=Text(title),
        title_justify='left',
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        pad_edge=False,
        show_edge=False,
        min_width=min(len(title), WIDTH),
    )
    for name in left:
        new_table.add_column(name)
    for name in right:
        new_table.add_column(name, justify='right')
    return new_table


def format_estimate(estimate: MeanEstimate | None, main: Shown, end: Shown) -> Text:
    """A value over the ends of its interval."""
    if estimate is None or estimate.value is None:
        return Text(DASH)
    text = Text(main(estimate.value))
    if estimate.low is not None and estimate.high is not None:
        text.append(f'\n{format_interval(estimate, end)}', style='dim')
    return text


def format_interval(estimate: MeanEstimate, end: Shown) -> str:
    """The ends of its interval, which has some."""
    assert estimate.low is not None
    assert estimate.high is not None
    low, high = end(estimate.low), end(estimate.high)
    return f'{low}{"…" if low[:1] in "+-" else DASH}{high}'


def format_percent(estimate: MeanEstimate | None) -> Text:
    return format_estimate(
        estimate, lambda value: f'{value * 100:.1f}%', lambda value: f'{value * 100:.1f}'
    )


def format_plain_percent(estimate: MeanEstimate) -> str:
    """The value alone, for a sentence."""
    return format_estimate(replace(estimate, low=None), '{:.1%}'.format, str).plain


def format_delta(estimate: MeanEstimate) -> Text:
    """Signed, with three decimals like the paper's."""
    return format_estimate(
        estimate, lambda value: f'{value * 100:+.3f}%', lambda value: f'{value * 100:+.1f}'
    )


def format_dollars(estimate: MeanEstimate) -> Text:
    return format_estimate(estimate, '${:.2f}'.format, '{:.2f}'.format)


def format_thousands(estimate: MeanEstimate) -> Text:
    def format_value(value: float) -> str:
        return f'{value / 1000:.1f}k'

    return format_estimate(estimate, format_value, format_value)


def format_number(estimate: MeanEstimate) -> Text:
    return format_estimate(estimate, '{:.1f}'.format, '{:.1f}'.format)


def join_names(names: Iterable[str | None]) -> str:
    """Names of strangers, as they are but for what a terminal would obey."""
    known = sorted({escape_controls(name) for name in names if name})
    return escape(', '.join(known)) or DASH


def pluralise(count: int, word: str) -> str:
    return f'{count:,} {word}{"" if count == 1 else "s"}'
