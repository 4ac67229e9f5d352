"""The tasks of a snapshot that are to be graded, each with the rows of its targets."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.records import Prediction
from coevo.languages.declarations import SourceFile, find_declared_method
from coevo.languages.table import LANGUAGES
from coevo.model import codec
from coevo.model.dictionary import TEXTS_WITHHELD
from coevo.model.errors import Fatal
from coevo.model.families import Family, Scenario
from coevo.model.method_rows import MethodRow
from coevo.model.records import TestMethod
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.snapshots import snapshot
from coevo.snapshots.cutoffs import Cutoff, build_no_leak_condition
from coevo.snapshots.query import build_view_conditions
from coevo.snapshots.snapshot import OpenedSnapshots

if TYPE_CHECKING:
    import duckdb

Row = TypeVar('Row')


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A target method of a task; `name` is its `test_method` in results."""

    name: str
    row: MethodRow

    @property
    def method(self) -> TestMethod:
        """The target in the new revision, as gold has it."""
        return self.row.method

    @property
    def is_at_start(self) -> bool:
        """True if the start file has the target (update, extension, repair)."""
        return self.row.track is not Track.GENERATION

    @property
    def method_at_start(self) -> str:
        """The name of the method in the start file, if the start file has the target.

        Its class is named as at new.
        """
        return self.row.old_test_method or self.row.test_method


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A task with its targets or, for suites, with its gold row.

    single_revision  the row of gold for a suite of a single revision
    updates          for maintenance, the tests of the same file with the label `update`, whose rows
                     tell how to run them
    demanded         for code, the rows of the tests that the task names
    """

    task: TaskRow
    targets: tuple[Target, ...]
    single_revision: SingleRevisionRow | None = None
    updates: tuple[MethodRow, ...] = ()
    demanded: tuple[MethodRow, ...] = ()

    @property
    def task_id(self) -> str:
        """The id of the task."""
        return self.task.task_id

    @property
    def family(self) -> Family:
        """The family of the task; snapshots of a schema before 2.1 have only `coevolution`."""
        return self.task.family or Family.COEVOLUTION

    @property
    def asks_for_suite(self) -> bool:
        """True if the task is a suite: a whole test file that is graded by all of its tests."""
        return self.single_revision is not None or self.is_maintenance

    @property
    def asks_for_code(self) -> bool:
        """True if the task asks for code, of which the tests are given."""
        return self.task.asks_for_code

    @property
    def was_gold_written(self) -> bool:
        """False if the developers wrote no answer: the task is a function that no test executes."""
        return was_gold_written(self.task)

    @property
    def is_graded_as_a_whole(self) -> bool:
        """True if an attempt has one row of results, and no row for each target."""
        return self.asks_for_suite or self.asks_for_code

    @property
    def is_maintenance(self) -> bool:
        """True for tasks of whole-file maintenance."""
        return self.task.family is Family.MAINTENANCE

    @property
    def is_generation(self) -> bool:
        """True for tasks of the track `generation`."""
        return self.task.track is Track.GENERATION

    @property
    def must_fail_on_old_code(self) -> bool:
        """True if submitted targets succeed only if they break on the old code."""
        return self.task.track.must_fail_on_old_code

    def find_target(self, name: str) -> Target:
        """Return the target of this name. Raises: ValueError if there is none."""
        (matching_target,) = (target for target in self.targets if target.name == name)
        return matching_target

    @property
    def override(self) -> str | None:
        """The workaround under which the cells of the pair ran; None if there was none.

        It is one of the `WORKAROUNDS` of the language; other overrides in the rows describe the
        build.
        """
        targets = (target.row for target in self.targets)
        rows = (*targets, *self.updates, *self.demanded, self.single_revision)
        names = {name for row in rows if row for name in (row.override or '').split('+')}
        return next(iter(sorted(names & LANGUAGES[self.task.language].WORKAROUNDS)), None)


def was_gold_written(task: TaskRow) -> bool:
    """Return False if the developers wrote no answer to a task."""
    return task.gold_adequacy is None or task.gold_adequacy.tests > 0


# A task id and the number of an attempt.
AttemptKey = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskAttempt:
    """An attempt at a task; a task without a prediction has a first attempt without a patch."""

    assignment: Assignment
    prediction: Prediction

    @property
    def key(self) -> AttemptKey:
        """The task id and the number of the attempt."""
        return self.prediction.task_id, self.prediction.attempt


def list_attempts(
    wanted: Iterable[Assignment], found: Iterable[Prediction]
) -> tuple[TaskAttempt, ...]:
    """Return the attempts at each wanted task, in the order of the tasks.

    A task without a prediction has one attempt without a patch. Predictions of other tasks are left
    out.
    """
    by_task: dict[str, list[Prediction]] = {}
    for prediction in found:
        by_task.setdefault(prediction.task_id, []).append(prediction)
    return tuple(
        TaskAttempt(assignment=assignment, prediction=prediction)
        for assignment in wanted
        for prediction in by_task.get(assignment.task_id)
        or (Prediction(task_id=assignment.task_id, patch=None),)
    )


def list_task_ids(opened: OpenedSnapshots) -> frozenset[str]:
    """Return the ids of all tasks of a snapshot."""
    rows = opened.connection.execute(f'SELECT task_id FROM {opened.rows["tasks"]}').fetchall()
    return frozenset(task_id for (task_id,) in rows)


def load_task_ids(place: Path | str) -> frozenset[str]:
    """Return the ids of all tasks of the snapshot at a place."""
    with snapshot.translate_read_errors((place,)):
        return list_task_ids(snapshot.attach_snapshots_unchecked((place,)))


def list_answered_task_ids(path: Path, place: Path | str) -> frozenset[str]:
    """Return the tasks of a snapshot that the predictions of a file or folder answer.

    Raises: Fatal for a bad file, or for a task that the snapshot lacks.
    """
    known = load_task_ids(place)
    return frozenset(prediction.task_id for prediction in load_predictions(path, known))


def list_ids_in_view(place: Path | str, view: str) -> frozenset[str]:
    """Return the ids of the tasks in a view of a snapshot, such as `verified`."""
    opened = snapshot.attach_snapshots((place,))
    with snapshot.translate_read_errors((place,)):
        snapshot.create_views(opened, {})
        rows = opened.connection.execute(f'SELECT task_id FROM {view}').fetchall()
    return frozenset(task_id for (task_id,) in rows)


def list_wanted_ids(
    place: Path | str,
    tasks: Collection[str] | None = None,
    cutoff: Cutoff | None = None,
    *,
    family: Family | None = None,
    interleaved: bool = False,
    leaking: bool = False,
    with_code: bool = True,
    new_tests_in: Collection[str] = (),
) -> tuple[str, ...]:
    """Return the ids of the tasks that `load_assignments` would return, in its order.

    Tasks whose texts are withheld are included, so that a code-free edition can be asked, too.
    family     the only family to return; None for all
    with_code  whether tasks that ask for code are included
    new_tests_in  only tasks that ask for new tests in these languages; () for all tasks
    Raises: Fatal for an id that the snapshot lacks.
    """
    opened = snapshot.attach_snapshots((place,))
    _check_task_ids(place, tasks, opened)
    where = _build_wanted_condition(tasks, leaking=leaking)
    family_text = f"coalesce(family::VARCHAR, '{Family.COEVOLUTION}')"
    if family is not None:
        where += f" AND {family_text} = '{family}'"
    if not with_code:
        where += f" AND {family_text} <> '{Family.IMPLEMENT}'"
    if new_tests_in:
        languages = ', '.join(snapshot.quote_sql(name) for name in sorted(new_tests_in))
        where += f" AND language IN ({languages}) AND track = '{Track.GENERATION}'"
        where += f" AND coalesce(scenario::VARCHAR, '{Scenario.CREATE}') = '{Scenario.CREATE}'"
    columns = 'task_id, old_is_ancestor'
    order = 'repo, new_committer_date, pair_id, task_id'
    with snapshot.translate_read_errors((place,)):
        snapshot.create_table_views(opened, dict(build_view_conditions(cutoff)))
        rows = opened.connection.execute(
            f'SELECT {columns} FROM tasks WHERE {where} ORDER BY {order}'
        ).fetchall()
    if tasks is not None:
        return tuple(task_id for task_id, _ in rows if task_id in tasks)
    return tuple(task_id for task_id, related in rows if interleaved or related is not False)


def _check_task_ids(
    place: Path | str, tasks: Collection[str] | None, opened: OpenedSnapshots
) -> None:
    unknown = sorted(set(tasks) - list_task_ids(opened)) if tasks else []
    if unknown:
        raise Fatal(
            f'{place} has no task {unknown[0]!r}; `coevo query {place} "SELECT task_id FROM '
            'tasks"` lists its tasks'
        )


def _build_wanted_condition(tasks: Collection[str] | None, *, leaking: bool) -> str:
    return 'true' if leaking or tasks is not None else build_no_leak_condition()


def load_assignments(
    place: Path | str,
    tasks: Collection[str] | None = None,
    cutoff: Cutoff | None = None,
    *,
    interleaved: bool = False,
    leaking: bool = False,
) -> tuple[Assignment, ...]:
    """Return the wanted tasks with their targets, sorted by repository and date.

    Tasks of one pair are next to each other.
    tasks        ids of the wanted tasks; None for all
    cutoff       only tasks whose date it admits are wanted
    interleaved  if `tasks` is None, also return tasks whose old revision is no ancestor of the new
                 one
    leaking      if `tasks` is None, also return tasks whose start state shows the answer
    Tasks whose texts are withheld are left out (`describe_withheld_tasks`), unless they are named.
    Raises: Fatal for an id that the snapshot lacks, or whose texts it withholds.
    """
    opened = snapshot.attach_snapshots((place,))
    _check_task_ids(place, tasks, opened)
    snapshot.refuse_code_free_edition(place, tasks)
    _refuse_withheld_tasks(place, opened, tasks or ())
    where = _build_wanted_condition(tasks, leaking=leaking)
    methods: dict[str, list[MethodRow]] = defaultdict(list)
    single_revision: dict[tuple[str, str], SingleRevisionRow] = {}
    with snapshot.translate_read_errors((place,)):
        snapshot.create_table_views(opened, dict(build_view_conditions(cutoff)))
        rows = _query_rows(opened.connection, 'tasks', TaskRow, f'NOT {TEXTS_WITHHELD} AND {where}')
        for row in _query_rows(opened.connection, 'methods', MethodRow, 'task_id IS NOT NULL'):
            methods[row.method_id].append(row)
        for gold in _query_rows(
            opened.connection,
            'single_revision',
            SingleRevisionRow,
            f'task_id IS NOT NULL AND NOT {TEXTS_WITHHELD}',
        ):
            single_revision[gold.pair_id, str(gold.task_id)] = gold
    wanted = [task for task in rows if _is_wanted(task, tasks, interleaved=interleaved)]
    wanted.sort(key=lambda task: (task.repo, str(task.new_committer_date), task.pair_id))
    return tuple(
        Assignment(
            task=task,
            targets=tuple(name_targets(_select_method_rows(task, methods))),
            single_revision=single_revision.get((task.pair_id, task.task_id)),
            updates=tuple(_find_update_rows(task, methods)),
            demanded=tuple(_find_demanded_rows(task, methods)),
        )
        for task in wanted
    )


def _refuse_withheld_tasks(
    place: Path | str, opened: OpenedSnapshots, tasks: Collection[str]
) -> None:
    withheld = sorted(_list_withheld_ids(opened) & set(tasks))
    if withheld:
        raise Fatal(
            f'{place} has no texts of {", ".join(withheld[:3])}'
            f'{f" and {len(withheld) - 3} more" if len(withheld) > 3 else ""}; '
            f'{snapshot.format_filling_command(place, *withheld)} fills them in'
        )


def list_withheld_ids(place: Path | str) -> frozenset[str]:
    """Return the ids of the tasks whose texts a snapshot withholds."""
    return _list_withheld_ids(snapshot.attach_snapshots_unchecked((place,)))


def _list_withheld_ids(opened: OpenedSnapshots) -> frozenset[str]:
    sql = f'SELECT task_id FROM {opened.rows["tasks"]} WHERE {TEXTS_WITHHELD}'
    return frozenset(task_id for (task_id,) in opened.connection.execute(sql).fetchall())


def describe_withheld_tasks(place: Path | str) -> str | None:
    """Return a sentence about the tasks that are left out, since their texts are withheld.

    None if there are none.
    """
    opened = snapshot.attach_snapshots_unchecked((place,))
    count = len(_list_withheld_ids(opened))
    if not count:
        return None
    total = len(list_task_ids(opened))
    return (
        f'{count} of {total} tasks are left out, since {place} lacks their texts: '
        f'{snapshot.format_filling_command(place)} fills them in'
    )


def _is_wanted(task: TaskRow, tasks: Collection[str] | None, *, interleaved: bool) -> bool:
    if tasks is not None:
        return task.task_id in tasks
    return interleaved or task.old_is_ancestor is not False


def _query_rows(
    connection: duckdb.DuckDBPyConnection, table: str, record: type[Row], where: str = 'true'
) -> tuple[Row, ...]:
    relation = connection.sql(f'SELECT * FROM {table} WHERE {where} ORDER BY ALL')
    return codec.decode_table(record, relation.to_arrow_table())


def _select_method_rows(task: TaskRow, methods: dict[str, list[MethodRow]]) -> Sequence[MethodRow]:
    rows = (row for method_id in task.method_ids for row in methods.get(method_id, ()))
    return [row for row in rows if (row.pair_id, row.walk) == (task.pair_id, task.walk)]


def _find_update_rows(task: TaskRow, methods: dict[str, list[MethodRow]]) -> Iterator[MethodRow]:
    if task.family is Family.MAINTENANCE:
        for row in (row for rows in methods.values() for row in rows):
            row_key = row.pair_id, row.walk, row.test_file, row.track
            if row_key == (task.pair_id, task.walk, task.test_file, Track.UPDATE):
                yield row


def _find_demanded_rows(task: TaskRow, methods: dict[str, list[MethodRow]]) -> Iterator[MethodRow]:
    for demanded in task.demanded or ():
        for row in methods.get(demanded.method_id, ()):
            if (row.pair_id, row.walk) == (task.pair_id, task.walk):
                yield row


def name_targets(rows: Sequence[MethodRow]) -> Iterator[Target]:
    """Yield the targets of some rows, each named `CLASS#METHOD`.

    The name of an overloaded method also has its parameters.
    """
    names = [f'{row.test_class.rpartition(".")[2]}#{row.test_method}' for row in rows]
    several = Counter(names)
    for name, row in zip(names, rows, strict=True):
        full = f'{name}({",".join(row.parameters)})' if several[name] > 1 else name
        yield Target(name=full, row=row)


def locate_target(file: SourceFile, target: Target, name: str | None = None) -> TestMethod | None:
    """Return a target as a file declares it, with gold's parameters or as the only one of its name.

    None if the file has no such method.

    name  the name of the target in that file, if not as in gold
    """
    wanted = replace(target.method, test_method=name or target.row.test_method)
    return find_declared_method(file, wanted)
