"""`coevo query`: run one SQL query on a snapshot, or on what became public after a cutoff; look up
the prompt of a task.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from coevo.display import presentation, terminal
from coevo.model import schema_2
from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot
from coevo.snapshots.columns import add_comments, may_show_comments
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.snapshot import OpenedSnapshots
from coevo.storage import durable

if TYPE_CHECKING:
    import duckdb

_SUMMARY = """\
SELECT {columns}walk, label, track, count(*) AS methods, count(DISTINCT task_id) AS tasks,
       min(contamination_date) AS first_public, max(contamination_date) AS last_public
FROM methods WHERE {related} GROUP BY ALL ORDER BY ALL"""

# The columns that date the rows of a table: all of them must be later than the cutoff.
DATES = {
    'methods': ('contamination_date',),
    'tasks': ('contamination_date',),
    'single_revision': ('contamination_date',),
    'pairs': ('new_author_date', 'new_committer_date'),
}

# Tables without a date: a row is kept if its method, or its pair, is kept.
OF_METHODS = ('cells', 'dependency_map', 'mutants', 'reversals')
OF_PAIRS = ('refactorings', 'drops', 'timings')


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotQuery:
    """A query with its options.

    sql     one SELECT; None is a summary by label and track
    cutoff  limits every table to what became public in this time
    track   generation, update or repair: limits every table to what belongs to this track
    format  table, csv, json (one array) or parquet
    out     a file to write; None is standard output
    """

    sql: str | None = None
    cutoff: Cutoff | None = None
    track: str | None = None
    format: str = 'table'
    out: Path | None = None


def run_query(places: Sequence[Path | str], question: SnapshotQuery) -> None:
    """Run a query on snapshots, and print its answer or write it to a file.

    What the cutoff left out is printed on standard error. Raises: Fatal for an invalid query, or
    for Parquet without a file to write.
    """
    if question.format == 'parquet' and question.out is None:
        raise Fatal('Parquet is not for a terminal: say where to write it with --out FILE')
    limits = dict(build_view_conditions(question.cutoff, question.track))
    opened = snapshot.attach_snapshots(places)
    forbid_access_beyond_snapshots(opened)
    with snapshot.translate_read_errors(places):
        for line in describe_rows_left_out(opened, question.cutoff) if question.cutoff else ():
            print(line, file=sys.stderr)
        snapshot.create_views(opened, limits)
        sql = build_summary(len(places)) if question.sql is None else question.sql
        if may_show_comments(sql):
            add_comments(opened.connection)
        for line in describe_omitted_methods(opened) if question.sql is None else ():
            print(line, file=sys.stderr)
    answer = run_select(opened.connection, sql, question.format)
    if question.out is None:
        terminal.write_data(answer)
    else:
        _write_answer(question.out, answer)


def build_summary(snapshots: int) -> str:
    """Return the query for a summary by label and track, of each snapshot if there are several."""
    columns = 'snapshot, ' if snapshots > 1 else ''
    return _SUMMARY.format(columns=columns, related=snapshot.RELATED)


def _suggest_new_names(sql: str) -> str:
    """Return a hint if a query uses names of schema 2, such as `told_cold`; else an empty text."""
    names = schema_2.map_old_names_in_text(sql)
    hints = ', '.join(f'`{old}` is `{new}`' for old, new in names.items())
    return f' (since schema 3 {hints})' if hints else ''


def _suggest_name_listing(message: str) -> str:
    """Return where names are listed, if DuckDB says that one is unknown; else an empty text."""
    if message.startswith('Catalog Error: Table'):
        return ' (`SHOW TABLES` lists the tables and views)'
    if message.startswith('Binder Error: Referenced column'):
        return ' (`DESCRIBE methods` lists the columns of a table)'
    return ''


def run_select(connection: duckdb.DuckDBPyConnection, sql: str, format: str) -> bytes:
    """Return the answer to one SELECT in this format.

    Raises: Fatal with the first line of DuckDB's message, or if this is not one SELECT.
    """
    import duckdb

    try:
        statements = connection.extract_statements(sql)
        if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
            raise Fatal('A snapshot is only read: ask one SELECT (DESCRIBE and FROM will do)')
        return _run_interruptibly(
            connection,
            lambda: presentation.render_answer(connection.sql(statements[0].query), format),
        )
    except duckdb.Error as error:
        message = snapshot.summarise_error(error)
        raise Fatal(
            f'{message}{_suggest_new_names(sql) or _suggest_name_listing(message)}'
        ) from None


def _run_interruptibly(connection: duckdb.DuckDBPyConnection, answer: Callable[[], bytes]) -> bytes:
    """Return the result of a function that queries a connection; Ctrl-C ends the query at once.

    DuckDB looks for signals only now and then, and raises errors of no type of its own for them.
    So the query runs in a thread, and Ctrl-C interrupts the connection.
    """
    with ThreadPoolExecutor(max_workers=1) as pool:
        future = pool.submit(answer)
        try:
            return future.result()
        except KeyboardInterrupt:
            connection.interrupt()
            raise


def forbid_access_beyond_snapshots(opened: OpenedSnapshots) -> None:
    """Restrict a connection to the files of its snapshots: queries reach no other file or host.

    DuckDB would otherwise allow reads from its folder for spilling, below the working directory,
    and references to Python variables by name.
    """
    connection = opened.connection
    allowed = ', '.join(snapshot.quote_sql(part.file) for part in opened.parts)
    connection.execute("SET temp_directory = ''")
    connection.execute("SET memory_limit = '50%'")
    connection.execute('SET python_enable_replacements = false')
    connection.execute(f'SET allowed_paths = [{allowed}]')
    connection.execute('SET enable_external_access = false')
    connection.execute('SET lock_configuration = true')


def describe_rows_left_out(opened: OpenedSnapshots, cutoff: Cutoff) -> Iterator[str]:
    """Yield a line for each table with dates: how many rows the cutoff keeps and leaves out."""
    in_time = _build_date_condition(DATES['tasks'], cutoff)
    tasks = f'(SELECT task_id FROM {opened.rows["tasks"]} WHERE {in_time})'
    missed = 'not later' if cutoff.before is None else 'at another time'
    for table, columns in DATES.items():
        dated = ' AND '.join(f'{column} IS NOT NULL' for column in columns)
        sql = (
            f'SELECT count(*), count(*) FILTER ({dated}), '
            f'count(*) FILTER ({_build_kept_condition(table, cutoff, tasks)}) FROM {opened.rows[table]}'
        )
        ((rows, with_date, kept_count),) = opened.connection.execute(sql).fetchall()
        yield (
            f'{cutoff}: {kept_count} of {rows} {table}; left out: {with_date - kept_count} {missed}, '
            f'{rows - with_date} without a date'
        )


def describe_omitted_methods(opened: OpenedSnapshots) -> Iterator[str]:
    """Yield a line with the number of methods that the summary omits.

    These are the methods whose old revision is no ancestor of the new one; none if there are no
    such.
    """
    sql = f'SELECT count(*) FROM methods WHERE NOT ({snapshot.RELATED})'
    ((left,),) = opened.connection.execute(sql).fetchall()
    if left:
        yield (
            f'left out of the summary: {left} methods whose old revision is no ancestor of the '
            'new one (old_is_ancestor is false); they are in the tables'
        )


def build_view_conditions(
    cutoff: Cutoff | None, track: str | None = None
) -> Iterator[tuple[str, str]]:
    """Yield the name of each view to be limited, with its SQL condition; none without any limit.

    A condition refers only to views that were yielded before.
    """
    if cutoff is None and track is None:
        return
    of_track = f'track = {snapshot.quote_sql(track)}' if track else 'true'
    later = {
        table: _build_kept_condition(table, cutoff, '(SELECT task_id FROM tasks)')
        for table in DATES
    }
    yield 'tasks', f'{later["tasks"]} AND {of_track}'
    yield 'methods', f'{later["methods"]} AND {of_track}'
    yield 'single_revision', f'{later["single_revision"]} AND {_build_task_condition(track)}'
    with_track = f'({_build_membership_condition("methods", "pair_id", "walk")} OR {_build_membership_condition("single_revision", "pair_id", "walk")})'
    yield 'pairs', f'{later["pairs"]} AND {with_track if track else "true"}'
    for table in OF_METHODS:
        yield table, _build_membership_condition('methods', 'method_id', 'walk')
    for table in OF_PAIRS:
        yield table, _build_membership_condition('pairs', 'pair_id', 'walk')
    yield 'repositories', _build_membership_condition('pairs', 'repo', 'language', 'walk')
    yield 'withdrawn', 'false'  # a withdrawn row has no date and no track


def _build_task_condition(track: str | None) -> str:
    return 'task_id IN (SELECT task_id FROM tasks)' if track else 'true'


def _build_kept_condition(table: str, cutoff: Cutoff | None, tasks: str) -> str:
    """Return the condition for rows of a table with dates.

    A method of a task is kept only with its task, which is public as soon as one of its methods is.

    tasks  SQL for the ids of the tasks that are kept
    """
    if cutoff is None:
        return 'true'
    in_time = _build_date_condition(DATES[table], cutoff)
    return (
        f'{in_time} AND (task_id IS NULL OR task_id IN {tasks})' if table == 'methods' else in_time
    )


def _build_date_condition(columns: tuple[str, ...], cutoff: Cutoff) -> str:
    first, end = cutoff.first_clean, cutoff.end
    if first is not None and end is not None and first >= end:
        raise Fatal(f'no day is {cutoff.after_words} and {cutoff.before_words}: name a later end')
    bounds = [(sign, at) for sign, at in (('>=', first), ('<', end)) if at]
    within = (
        f"{column} {sign} TIMESTAMPTZ '{at.isoformat()}'"
        for column in columns
        for sign, at in bounds
    )
    return ' AND '.join((*(f'{column} IS NOT NULL' for column in columns), *within))


def _build_membership_condition(parent: str, *columns: str) -> str:
    names = ', '.join(columns)
    return f'({names}) IN (SELECT ({names}) FROM {parent})'


def _write_answer(out: Path, answer: bytes) -> None:
    if not out.absolute().parent.is_dir():
        raise Fatal(f'{out} cannot be written: its folder does not exist')
    durable.write_durably(out.absolute(), [answer])


def load_task_prompt(place: Path | str, task_id: str) -> str:
    """Return the prompt of a task.

    Raises: Fatal if the task is unknown or the snapshot has no prompts.
    """
    with snapshot.translate_read_errors((place,)):
        connection = snapshot.open_snapshots(place)
        sql = f'SELECT prompt, {TEXTS_WITHHELD} FROM tasks WHERE task_id = ?'
        row = connection.execute(sql, [task_id]).fetchone()
    if row is not None and row[1]:
        raise Fatal(
            f'{place} has no texts of {task_id}; {snapshot.format_filling_command(place, task_id)} fills them in'
        )
    if row is None or row[0] is None:
        raise Fatal(
            f'{place} has no prompt of a task {task_id!r}; '
            '`coevo query SNAPSHOT "SELECT task_id FROM tasks"` lists its tasks'
        )
    return str(row[0])
