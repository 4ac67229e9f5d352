"""The statistics of TestEvo-Bench for a snapshot: the queries in `queries/`, by name.

Each file is one SELECT over the snapshot's tables, which plain DuckDB can run, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True, slots=True, kw_only=True)
class Statistic:
    """A statistic: the name of its file, a heading, and a note that readers need."""

    name: str
    title: str
    note: str

    @property
    def sql(self) -> str:
        """The text of its query."""
        return (
            files('coevo.snapshots')
            .joinpath('queries', f'{self.name}.sql')
            .read_text(encoding='utf-8')
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StatisticRows:
    """The answer to a statistic: names of columns, and rows in a fixed order."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


STATISTICS = (
    Statistic(
        name='table_1',
        title='Tasks of each track (Table 1)',
        note='Means of a task: target tests, changed methods that they depend on, tokens of the '
        'tests (old and new) and of the lines that the source patch changes. Tokens are those of '
        "NLTK's WordPunctTokenizer; a model counts more.",
    ),
    Statistic(
        name='families',
        title='Tasks of each family',
        note='Of suites also what those of the developers are worth on the class that they are about.',
    ),
    Statistic(
        name='figure_2',
        title='Tasks by half-year of their new revision (Figure 2)',
        note='By committer date in UTC; Older is before 2015.',
    ),
    Statistic(
        name='table_4',
        title='Mutants of the gold tests (Table 4)',
        note='Per target test method. Means are over those that have mutants.',
    ),
    Statistic(
        name='table_5',
        title='Repositories with a task (Table 5)',
        note='Means over repositories; source files and lines are those at the head of the walk.',
    ),
    Statistic(
        name='table_11',
        title='Test-update identification (Table 11)',
        note='Static: a test changed together with a dependency. Dynamic: the old test is broken on '
        'the new code.',
    ),
    Statistic(
        name='labels',
        title='Test methods by label, track and cause',
        note='Every labelled test method, be it a task or not.',
    ),
    Statistic(
        name='umpire',
        title="What the project's own command says",
        note='Of methods that were run: those that do not pass on their own revision here, about'
        " which the project's own command disagrees (`unlike_the_project`).",
    ),
    Statistic(
        name='funnel',
        title='The funnel',
        note='What entered each stage, what it kept, and why the rest left, over all walks.',
    ),
)


def run_statistic(connection: duckdb.DuckDBPyConnection, statistic: Statistic) -> StatisticRows:
    """Run a statistic on a connection from `coevo.open`. The rows have a fixed order."""
    relation = connection.sql(statistic.sql)
    return StatisticRows(columns=relation.columns, rows=relation.fetchall())
