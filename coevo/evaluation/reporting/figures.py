"""Figures, computed by SQL views over rows, and the records of a report filled with them.

A figure is named by its path in the report, such as `tracks`, `update`, `macro`, `success`. Each
script `X.sql` has three views: `samples_of_X` (a repository, and scores whose mean is one sample of
a mean), `counts_of_X` (a number) and `words_of_X` (a word, or null for a part of the report that
exists and is empty). The items of a sequence are sorted by their paths, or by an enumeration if the
first field of their records is one.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.resources import files
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_origin, get_type_hints

import pyarrow as pa

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import (
    MeanEstimate,
    Sample,
    estimate_mean,
    estimate_second_minus_first,
)
from coevo.evaluation.suites.records import SuiteResult
from coevo.model.column import split_optional
from coevo.model.schema import build_table

if TYPE_CHECKING:
    import duckdb

Record = TypeVar('Record')
Rows = Sequence[MethodResult]
Suites = Sequence[SuiteResult]


@dataclass(slots=True, kw_only=True)
class Figures:
    """A node of a tree of figures: the samples or the value at one path.

    parts  the nodes below it, by the next word of their path
    """

    parts: dict[str, Figures] = field(default_factory=dict)
    samples: list[Sample] = field(default_factory=list)
    value: Any = None

    def find_or_create(self, path: Sequence[str]) -> Figures:
        """Return the figures at a path; missing ones are created."""
        figures = self
        for name in path:
            figures = figures.parts.setdefault(name, Figures())
        return figures


@contextmanager
def open_results(
    scripts: Sequence[str], evaluations: Sequence[Rows], suites: Suites = ()
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Provide a database in memory that has the rows, and the views of scripts over them.

    scripts      names of SQL files beside this module, without `.sql`
    evaluations  rows of the table `methods`, whose column `evaluation` has the index of their group
    suites       rows of the table `suites`
    """
    import duckdb

    tables = [
        build_table(MethodResult, rows).append_column(
            'evaluation', pa.array([number] * len(rows), pa.int64())
        )
        for number, rows in enumerate(evaluations or [()])
    ]
    # Queries are many and small: threads would wait for each other.
    with duckdb.connect(config={'threads': 1}) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register('methods', pa.concat_tables(tables))
        connection.register('suites', build_table(SuiteResult, suites))
        for name in scripts:
            run_script(connection, name)
        yield connection


def run_script(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    """Create the tables and views of a script beside this module, whose tables must be there."""
    script = files('coevo').joinpath('evaluation', 'reporting', f'{name}.sql')
    connection.execute(script.read_text('utf-8'))


def collect_figures(connection: duckdb.DuckDBPyConnection, scripts: Sequence[str]) -> Figures:
    """Return the figures of all views of the scripts."""
    figures = Figures()
    for name in scripts:
        for path, repo, scores in connection.execute(f'FROM samples_of_{name}').fetchall():
            samples = figures.find_or_create(path).samples
            if scores:
                samples.append(Sample(repo=repo, value=math.fsum(scores) / len(scores)))
        for kind in ('counts', 'words'):
            for path, value in connection.execute(f'FROM {kind}_of_{name}').fetchall():
                figures.find_or_create(path).value = value
    return figures


def fill_record(kind: type[Record], figures: Figures, **given: Any) -> Record:
    """Make a record from figures; a field without figures is None, 0 or an empty part.

    given  values of fields that no view provides
    """
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in given}
    values = {name: _make_value(hint, figures.parts.get(name)) for name, hint in hints.items()}
    return kind(**given, **values)


def _make_value(hint: Any, figures: Figures | None) -> Any:
    kind, optional = split_optional(hint)
    if figures is None and optional:
        return None
    figures = figures or Figures()
    if kind is MeanEstimate:
        return _estimate_mean_or_difference(figures)
    if isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return fill_record(kind, figures)
    if get_origin(kind) is not None:
        return _make_container(kind, figures)
    if figures.value is None:
        return None if optional else kind()
    return kind(figures.value)


def _make_container(kind: Any, figures: Figures) -> Any:
    """Return a mapping by the next words of the path, or a sequence of the existing parts."""
    arguments = get_args(kind)
    if issubclass(get_origin(kind), Mapping):
        key_type, inner = arguments
        keys = _sort_keys(figures, key_type)
        return {key_type(key): _make_value(inner, figures.parts[key]) for key in keys}
    inner = arguments[0]
    first_type, *_ = get_type_hints(inner).values()
    parts = [_make_value(inner, figures.parts[key]) for key in _sort_keys(figures, first_type)]
    return tuple(parts) if get_origin(kind) is tuple else parts


def _sort_keys(figures: Figures, kind: Any) -> Sequence[str]:
    if isinstance(kind, type) and issubclass(kind, StrEnum):
        return [member.value for member in kind if member.value in figures.parts]
    return sorted(figures.parts)


def _estimate_mean_or_difference(figures: Figures) -> MeanEstimate:
    """Return a mean, or the difference of the means below `first` and `second`."""
    if figures.parts:
        return estimate_second_minus_first(
            figures.find_or_create(['first']).samples, figures.find_or_create(['second']).samples
        )
    return estimate_mean(figures.samples)
