"""The statistics of TestEvo-Bench for a snapshot: the queries in `queries/`, and `coevo report
statistics`.

Each file is one SELECT over the snapshot's tables, which plain DuckDB can run, too.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coevo.display import presentation
from coevo.display.terminal import escape_controls
from coevo.languages.table import LANGUAGES
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot

if TYPE_CHECKING:
    import duckdb


# The statistics of TestEvo-Bench for a snapshot: the queries in `queries/`, by name.


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

VERIFIED = Statistic(
    name='verified',
    title='Verified tasks',
    note='Of the view `verified`, by language and track. It reads views, so it takes a connection '
    'from `coevo.open`.',
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
        name='by_language',
        title='Tasks by language and half-year',
        note='Tasks of co-evolution, by committer date in UTC; Older is before 2015.',
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
    Statistic(
        name='cost',
        title='What a task took',
        note='CPU seconds, with those of commits that gave no task. `seconds_per_task` is labelling '
        'alone; `seconds_measured` is measuring, for each task that is measured.',
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


# Assertions per test and per line of the target tests of a snapshot, by language.
#
# The reader of assertions of each language counts them in the text of a test at new. Assertions in
# helpers that a test calls do not count.

COLUMNS = ('language', 'tests', 'assertions', 'lines', 'per_test', 'per_line', 'without')

_TARGETS = """
SELECT DISTINCT language, method_id, new_source
FROM methods
WHERE new_source <> '' AND method_id IN (SELECT unnest(method_ids) FROM tasks)
ORDER BY ALL"""


def list_assertion_densities_by_language(
    connection: duckdb.DuckDBPyConnection,
) -> Iterator[tuple[str, int, int, int, float, float, int]]:
    """Yield a row of `COLUMNS` for each language, sorted; nothing where texts are withheld.

    `lines` are lines that are not blank; `without` is the number of tests without an assertion. A
    language without a reader of assertions has no row.
    """
    texts: dict[str, list[str]] = {}
    for language, _, text in connection.execute(_TARGETS).fetchall():
        texts.setdefault(language, []).append(text)
    for language, sources in texts.items():
        reader = LANGUAGES[language].MEASURES.assertions if language in LANGUAGES else None
        if reader is not None:
            counts = [len(reader.list_assertions(source)) for source in sources]
            lines = sum(bool(line.strip()) for source in sources for line in source.splitlines())
            total = sum(counts)
            per_line = round(total / max(lines, 1), 4)
            yield (
                language,
                len(sources),
                total,
                lines,
                round(total / len(sources), 2),
                per_line,
                counts.count(0),
            )


# `coevo report statistics`: the tables and the figure of TestEvo-Bench for a snapshot, and its
# costs.

_WIDTH = 80
_RESULTS = 'results.parquet'
_ASSERTIONS_NOTE = 'In the tests at new, not in helpers that they call; lines that are not blank.'
_NUMBERS = (int, float, type(None))

_MINING = """
SELECT walk::VARCHAR AS walk, step, sum("count")::BIGINT AS times,
    round(sum(cpu_seconds)) AS cpu_seconds, round(sum(wall_seconds)) AS wall_seconds
FROM timings GROUP BY ALL ORDER BY ALL"""
_MINING_NOTE = (
    'What mining took, by step, of the runs that a machine had to make; it is outside of the checksums.'
    ' Programs in the sandbox have processor time alone; `pair` has the elapsed time of whole pairs.'
)
# The agent's seconds are those of the whole task, repeated in the row of each target.
_TIMES = """
SELECT track::VARCHAR AS track, count(*) AS tasks, round(sum(run)) AS run_seconds,
    round(sum(agent)) AS agent_seconds, count(agent) AS tasks_with_agent_seconds
FROM (SELECT track, task_id, sum(seconds) AS run, any_value(agent_seconds) AS agent
    FROM read_parquet($file) GROUP BY track, task_id)
GROUP BY track ORDER BY track"""
_TIMES_NOTE = (
    'Elapsed time of all runs that judging took (the paper: of all tests once), and what agents say that'
    ' they took. What was judged before has the time that it took then.'
)


def render_statistics(place: Path | str, results: Path | None = None) -> str:
    """Return all statistics as text, each with its heading and note.

    results  the --out folder of a `coevo evaluate`, to add run and attempt times

    Raises: Fatal or DamagedSnapshot if this is no snapshot, Fatal if the folder has no results.
    """
    with snapshot.translate_read_errors((place,)):
        blocks = list(_render_blocks(snapshot.open_snapshots(place), results))
    return '\n\n'.join(blocks) + '\n'


def _render_blocks(connection: duckdb.DuckDBPyConnection, results: Path | None) -> Iterator[str]:
    withheld = describe_withheld_texts(connection)
    for statistic in (FIGURES, *STATISTICS, VERIFIED):
        note = f'{statistic.note} {withheld}' if statistic.name == 'table_1' else statistic.note
        yield _render_block(statistic.title, connection.sql(statistic.sql), note.strip())
    densities = list(list_assertion_densities_by_language(connection))
    if densities:
        heading = 'Assertions of the target tests (TAM-Eval, assert density)'
        yield f'{heading}\n\n{_render_table(COLUMNS, densities)}\n{_ASSERTIONS_NOTE}'
    yield _render_block('What mining took', connection.sql(_MINING), _MINING_NOTE)
    if results is not None:
        file = results / _RESULTS
        if not file.is_file():
            raise Fatal(f'{results} has no {_RESULTS}; name the --out of a `coevo evaluate`')
        times = connection.sql(_TIMES, params={'file': str(file)})
        yield _render_block('Run and attempt times (Table 1)', times, _TIMES_NOTE)


def _render_block(title: str, answer: duckdb.DuckDBPyRelation, note: str) -> str:
    wrapped_note = '\n'.join(textwrap.wrap(note, _WIDTH))
    return f'{title}\n\n{_render_table(answer.columns, answer.fetchall())}\n{wrapped_note}'


def _render_table(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table, laid out to fit a terminal.

    Rows are lines if they fit; else columns are lines; else each row is a block of its own.
    """
    shown = [[format_value(value) for value in row] for row in rows]
    right = [all(isinstance(row[at], _NUMBERS) for row in rows) for at in range(len(names))]
    table = presentation.align_columns([list(names), *shown], right)
    turned = presentation.align_columns(
        list(zip(names, *shown, strict=True)), [False, *[True] * len(shown)]
    )
    for layout in (table, turned):
        if max(map(len, layout.splitlines())) <= _WIDTH:
            return layout
    return '\n'.join(
        presentation.align_columns(list(zip(names, row, strict=True)), [False, False])
        for row in shown
    )


def format_value(value: object) -> str:
    """Return a value of a table: numbers with two decimals at most, without control characters."""
    if value is None:
        return ''
    return (
        f'{value:,.2f}'.removesuffix('.00')
        if isinstance(value, float)
        else escape_controls(str(value))
    )
