"""Cells and frames of tables for a terminal; text from outside cannot send control codes to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import attrgetter

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from coevo.display.terminal import escape_controls
from coevo.evaluation.reporting.bootstrap import MeanEstimate

DASH = '–'  # noqa: RUF001  # means no value; a hyphen would look like a minus

# The width of every table, so that a terminal of the usual width shows it whole.
WIDTH = 80

Shown = Callable[[float], str]
Cell = str | Text | int | MeanEstimate | None


def make_table(
    title: str,
    text_columns: Sequence[str],
    figure_columns: Sequence[str],
    rows: Iterable[Iterable[Cell]] = (),
) -> Table:
    """Return a table whose first columns are text and whose other columns are figures.

    left, right  the names of the text columns and of the figure columns
    rows         cells for all columns; an estimate is shown as per cent
    """
    new_table = Table(
        title=Text(title),
        title_justify='left',
        box=SIMPLE_HEAD,
        padding=(0, 0, 0, 1),
        pad_edge=False,
        show_edge=False,
        min_width=min(len(title), WIDTH),
    )
    for name in text_columns:
        new_table.add_column(name)
    for name in figure_columns:
        new_table.add_column(name, justify='right')
    for row in rows:
        new_table.add_row(*map(_format_cell, row))
    return new_table


def _format_cell(cell: Cell) -> str | Text:
    if isinstance(cell, int):
        return str(cell)
    return cell if isinstance(cell, str | Text) else format_percent(cell)


def format_estimate(estimate: MeanEstimate | None, main: Shown, end: Shown) -> Text:
    """Return a value above the ends of its interval; a dash if there is no value.

    main, end  format the value and the ends
    """
    if estimate is None or estimate.value is None:
        return Text(DASH)
    text = Text(main(estimate.value))
    if estimate.low is not None and estimate.high is not None:
        low, high = end(estimate.low), end(estimate.high)
        between = '…' if low[:1] in '+-' else DASH
        text.append(f'\n{low}{between}{high}', style='dim')
    return text


def format_percent(estimate: MeanEstimate | None) -> Text:
    """Return a share as per cent with its interval."""
    return format_estimate(
        estimate, lambda value: f'{value * 100:.1f}%', lambda value: f'{value * 100:.1f}'
    )


def format_plain_percent(estimate: MeanEstimate) -> str:
    """Return the value alone as per cent, for a sentence."""
    return format_estimate(estimate, '{:.1%}'.format, str).plain.partition('\n')[0]


def format_delta(estimate: MeanEstimate) -> Text:
    """Return a difference with its sign, with three decimals as in the paper."""
    return format_estimate(
        estimate, lambda value: f'{value * 100:+.3f}%', lambda value: f'{value * 100:+.1f}'
    )


def join_names(names: Iterable[str | None]) -> str:
    """Return names from outside, sorted and each once, as one text; a dash if there are none.

    Control characters and markup are escaped.
    """
    known = sorted({escape_controls(name) for name in names if name})
    return escape(', '.join(known)) or DASH


def pluralise(count: int, word: str) -> str:
    """Return the count with the word, in the plural unless it is 1."""
    return f'{count:,} {word}{"" if count == 1 else "s"}'


def get_fields(record: object, paths: Iterable[str]) -> Iterator[Cell]:
    """Return cells with the fields of a record that dotted paths name."""
    return (attrgetter(path)(record) for path in paths)
