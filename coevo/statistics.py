"""The statistics of TestEvo-Bench from a snapshot: what stands in `queries/`, asked by name.

Each file is one SELECT over the snapshot's tables, which plain DuckDB answers as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING
from typing import Any

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """`name` is that of its file, `title` what it is, as a heading."""

    name: str
    title: str

    @property
    def sql(self) -> str:
        return files('coevo').joinpath('queries', f'{self.name}.sql').read_text(encoding='utf-8')


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


STATISTICS = (
    Statistic(name='table_1', title='Tasks of each track (Table 1)'),
    Statistic(name='figure_2', title='Tasks by half-year of their new revision (Figure 2)'),
    Statistic(name='table_4', title='Mutants of the gold tests (Table 4)'),
    Statistic(name='table_5', title='Repositories with a task (Table 5)'),
    Statistic(name='table_11', title='Test-update identification (Table 11)'),
    Statistic(name='labels', title='Test methods by label, track and cause'),
    Statistic(name='funnel', title='The funnel'),
)


def answer(connection: duckdb.DuckDBPyConnection, statistic: Statistic) -> Answer:
    """What a connection to a snapshot (`coevo.open`) says to it; the rows have a fixed order."""
    found = connection.sql(statistic.sql)
    return Answer(columns=found.columns, rows=found.fetchall())
