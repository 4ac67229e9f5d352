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


FIGURES = Statistic(
    name='figures',
    title='Figures',
    note='What card, page, command and README name: all of them ask this query. It reads the view '
    '`standard_tasks`, so it takes a connection from `coevo.open`.',
)

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
        name='families_by_language',
        title='Tasks of each family by language (TAM-Eval, Table I)',
        note="Means over the tasks where they are known. The paper's Test-Cov and Mut-Cov are those "
        'of the start; its row over all languages counts an unknown Mut-Cov as 0, this one leaves '
        'it out. Lines of test files are not in the data.',
    ),
    Statistic(
        name='classes',
        title='Classes of the family `class` (AgoneTest, Table II)',
        note='What Classes2Test tells of its classes. Their complexity is not in the data; the '
        'framework is that of the gold file, the runtime that of the runs.',
    ),
    Statistic(
        name='figure_2',
        title='Tasks by half-year of their new revision (Figure 2)',
        note='By committer date in UTC; Older is before 2015.',
    ),
    Statistic(
        name='by_month',
        title='Tasks by month',
        note='Tasks of co-evolution, by the month in which their new revision was committed, and by '
        'that since which their answer may have been public. Compare the latter with the training '
        'cutoff of a model.',
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


def query_figures(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Return the figures of the snapshots on a connection from `coevo.open`, by name.

    `queries/figures.sql` says what each of them counts.
    """
    return {str(name): int(value) for name, value in run_statistic(connection, FIGURES).rows}


_WITHHELD = 'SELECT count(*) FILTER (source_patch IS NULL), count(*) FROM tasks'


def describe_withheld_texts(connection: duckdb.DuckDBPyConnection) -> str:
    """Return a sentence on the tasks whose texts are withheld; empty if there is none."""
    withheld, tasks = connection.sql(_WITHHELD).fetchall()[0]
    if not withheld:
        return ''
    of = f'all {tasks} tasks' if withheld == tasks else f'{withheld} of the {tasks} tasks'
    return f'The texts of {of} are withheld here, so their tokens are not counted.'
