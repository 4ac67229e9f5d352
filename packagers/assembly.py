"""Fill the columns, and build the tasks, that depend on all rows together.

A value that other rows decide is kept as a mark, in the order of the rows, until a second pass over
them.
"""

from __future__ import annotations

import dataclasses
import hashlib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, groupby
from operator import attrgetter
from typing import Any, TypeVar

from coevo.engine.evidence import compute_upper_95
from coevo.model.method_rows import MethodRow, list_deciding_cells_of_row
from coevo.model.pair_rows import CellRow
from coevo.model.reasons import Reason
from coevo.model.records import Drop
from coevo.model.repository_rows import RepositoryRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Cell, MethodChange, Outcome, Stage, Walk
from coevo.storage.reverifications import ReverificationRecord
from coevo.storage.withdrawals import Withdrawal, WithdrawnKind
from packagers.askable import Noticed, add_noticed_changes, find_noticed_changes
from packagers.drafts import Identity, get_path_in_module, group_same_items, make_edit_key
from packagers.licensing import fill_licences, withhold_unpublishable_rows
from packagers.near_duplicates import Mark, apply_marks, mark_near_duplicates
from packagers.plan import BuiltTasks, ReleasePlan
from packagers.row_files import Sorter
from packagers.rows import Rows, list_rows_of_repo

Row = TypeVar('Row')


def assemble_release_rows(rows: Rows, plan: ReleasePlan) -> Rows:
    """Return the rows of a store with all columns, tasks and drops that a release adds.

    They are not yet compared with an earlier snapshot.
    """
    rows = plan.add_rows(apply_reverification(rows))
    repos = sorted({row.repo for row in rows.repositories})
    families = plan.cut.find_families(repos, plan.families) if plan.cut else plan.families(repos)
    rows = rows.replace_tables(
        repositories=(
            _complete_repository_row(row, families[row.repo], plan) for row in rows.repositories
        ),
    )
    rows = fill_licences(rows, plan.licence, plan.is_silent)
    rows = withhold_unpublishable_rows(rows, plan.accepted, is_private=plan.is_private)
    rows = rows.replace_tables(methods=plan.date(rows))
    rows = rows.replace_tables(single_revision=plan.date_single_revision(rows))
    tasks, drops = Sorter(TaskRow, rows.space), Sorter(Drop, rows.space)
    suites: dict[tuple[str, Walk], str] = {}
    alike = chain(mark_duplicates(rows), mark_near_duplicates(rows.methods, rows.space))
    of_tasks = _build_tasks(rows, plan, tasks, drops, suites)
    methods = apply_marks(rows.methods, chain(alike, of_tasks), rows.space)
    rows = rows.replace_tables(methods=methods)
    rows = rows.replace_tables(single_revision=_add_task_ids(rows.single_revision, suites))
    return rows.replace_tables(tasks=tasks.finish(), drops=chain(rows.drops, drops.finish()))


def _complete_repository_row(row: RepositoryRow, family: str, plan: ReleasePlan) -> RepositoryRow:
    files, lines = plan.size(row.repo, row.head, row.language) or (None, None)
    return dataclasses.replace(
        row,
        family=family,
        url=plan.urls.get(row.repo, row.url),
        source_files=files,
        source_lines=lines,
    )


def _add_task_ids(
    rows: Iterable[SingleRevisionRow], ids: Mapping[tuple[str, Walk], str]
) -> Iterator[SingleRevisionRow]:
    return (dataclasses.replace(row, task_id=ids.get((row.suite_id, row.walk))) for row in rows)


def _build_tasks(
    rows: Rows,
    plan: ReleasePlan,
    tasks: Sorter[TaskRow],
    drops: Sorter[Drop],
    suites: dict[tuple[str, Walk], str],
) -> Iterator[Mark]:
    """Build tasks and yield the marks of the methods that have one.

    Tasks, drops and the tasks of suites are added to the given collections.
    """
    families: dict[str, set[str]] = defaultdict(set)
    for row in rows.repositories:
        families[row.family or row.repo].add(row.repo)
    groups = [sorted(repos) for _, repos in sorted(families.items())]
    in_order = plan.build(select_rows_for_tasks(rows, repos) for repos in groups)
    for number, (repos, (some, all_built)) in enumerate(zip(groups, in_order, strict=True)):
        plan.listener.step('tasks', number, len(groups))
        built = _drop_withdrawn_tasks(all_built, rows.withdrawals)
        suites |= built.single_revision
        noticed = find_noticed_changes(dataclasses.replace(rows, methods=some.methods), repos)
        for task in built.tasks:
            tasks.add((), add_noticed_changes(task, noticed))
        for drop in built.drops:
            drops.add((), drop)
        yield from _mark_methods_with_tasks(some, built, noticed)
    plan.listener.step('tasks', len(groups), len(groups))


def _drop_withdrawn_tasks(built: BuiltTasks, withdrawals: Sequence[Withdrawal]) -> BuiltTasks:
    """Return the built tasks without those that were withdrawn, with a drop for each of these."""
    taken_back = {
        withdrawal.id: withdrawal.reason
        for withdrawal in withdrawals
        if withdrawal.kind is WithdrawnKind.TASK
    }
    withdrawn_tasks = [task for task in built.tasks if task.task_id in taken_back]
    if not withdrawn_tasks:
        return built
    drops = [
        Drop.make_drop_at_stage(
            Stage.TASK, task, task.task_id, Reason.TASK_WITHDRAWN, taken_back[task.task_id]
        )
        for task in withdrawn_tasks
    ]
    return dataclasses.replace(
        built,
        tasks=[task for task in built.tasks if task.task_id not in taken_back],
        ids={key: id_ for key, id_ in built.ids.items() if id_ not in taken_back},
        single_revision={
            key: id_ for key, id_ in built.single_revision.items() if id_ not in taken_back
        },
        drops=(*built.drops, *drops),
    )


def select_rows_for_tasks(rows: Rows, repos: Collection[str]) -> Rows:
    """Return the rows from which tasks of some repositories are built; all other tables are empty."""

    def select_rows(found: Sequence[Row]) -> tuple[Row, ...]:
        """Return the rows of these repositories, in their order."""
        return tuple(row for repo in repos for row in list_rows_of_repo(found, repo))

    return Rows(
        repositories=select_rows(rows.repositories),
        pairs=select_rows(rows.pairs),
        methods=select_rows(rows.methods),
        environments=select_rows(rows.environments),
        starts=select_rows(rows.starts),
        single_revision=select_rows(rows.single_revision),
        cells=(),
        drops=(),
        timings=(),
    )


def _mark_methods_with_tasks(
    rows: Rows, built: BuiltTasks, noticed: Mapping[tuple[str, Walk], Noticed]
) -> Iterator[Mark]:
    leak = {task.task_id: task.leak for task in built.tasks}
    for row in rows.methods:
        key = row.method_id, row.walk
        task_id, coverage = built.ids.get(key), built.coverage.get(key)
        if task_id is not None or coverage is not None:
            yield Mark(
                repo=row.repo,
                method_id=row.method_id,
                walk=row.walk,
                task_id=task_id,
                task_coverage=coverage,
                leak=leak.get(task_id or ''),
                strict_askable=None
                if task_id is None or key not in noticed
                else noticed[key].askable,
            )


# The next part finds edits that are in several pairs of a walk: branches, cherry-picks, merges and
# forks repeat them.

# An unchanged test meets another change of the code in every pair, so it is no copy of itself.
_EDITED = (MethodChange.INSERTED, MethodChange.CHANGED, MethodChange.DELETED)
_LATEST = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Edit:
    """An edit of a test, as far as its copies matter; `content` is a hash of what copies share."""

    content: bytes
    repo: str
    path: str
    pair_id: str
    method_id: str
    walk: Walk
    old_is_ancestor: bool | None
    date: datetime | None


def mark_duplicates(rows: Rows) -> Iterator[Mark]:
    """Yield marks whose `duplicate_of` names the earliest edit of the same test to the same text.

    Branches, cherry-picks and merges repeat an edit in other pairs of the walk, and forks repeat it
    in other repositories. If a pair whose old revision is an ancestor of the new one has the edit,
    a pair of interleaved branches does not count as the earliest.
    """
    sorter = Sorter(_Edit, rows.space)
    for edited_row in _list_edits(rows):
        sorter.add((edited_row.content,), edited_row)
    for _, same in groupby(sorter.finish(), key=attrgetter('content')):
        for group in group_same_items(same, _make_identity):
            yield from _mark_copies(group)


def _list_edits(rows: Rows) -> Iterator[_Edit]:
    families = {row.repo: row.family or row.repo for row in rows.repositories}
    for repo, methods in groupby(rows.methods, key=attrgetter('repo')):
        pairs = list_rows_of_repo(rows.pairs, repo)
        dates = {(pair.pair_id, pair.walk): pair.new_committer_date for pair in pairs}
        for row in methods:
            if row.change in _EDITED:
                yield _make_edit(row, families[repo], dates)


def _make_edit(
    row: MethodRow, family: str, dates: Mapping[tuple[str, Walk], datetime | None]
) -> _Edit:
    verdict = (family, row.language, row.walk, row.label, row.label_by_module)
    content = repr((*verdict, get_path_in_module(row), make_edit_key([row])))
    return _Edit(
        content=hashlib.blake2b(content.encode(), digest_size=16).digest(),
        repo=row.repo,
        path=f'{row.module} {row.test_file}',
        pair_id=row.pair_id,
        method_id=row.method_id,
        walk=row.walk,
        old_is_ancestor=row.old_is_ancestor,
        date=dates.get((row.pair_id, row.walk)),
    )


def _make_identity(row: _Edit) -> Identity:
    return Identity(content=row.content, repo=row.repo, path=row.path)


def _mark_copies(group: Sequence[_Edit]) -> Iterator[Mark]:
    first, *copies = sorted(group, key=_get_age_key)
    for row in copies:
        yield Mark(
            repo=row.repo,
            method_id=row.method_id,
            walk=row.walk,
            duplicate_of=first.method_id,
        )


def _get_age_key(row: _Edit) -> tuple[bool, datetime, str, str]:
    return row.old_is_ancestor is False, row.date or _LATEST, row.repo, row.pair_id


# The rest applies the results of `coevo pipeline reverify` to the rows of a release.
#
# Runs that agree count as further runs of the segment whose cells were repeated. A label that was
# not reproduced is withdrawn, in every walk and for good: mining the method again does not bring it
# back.

Place = tuple[str, Walk, Cell]  # identifies a method's runs


def apply_reverification(rows: Rows) -> Rows:
    """Return the rows with repeated runs counted, and without the labels that these refuted.

    A refuted label gets a drop, in every walk. Without repeated runs the rows stay as they are.
    """
    if not rows.reverified:
        return rows
    lost = dict(_find_lost_labels(rows.reverified))
    runs = _collect_repeated_runs(rows)
    added = Counter((row.method_id, row.walk, row.cell) for row in runs)
    passed = Counter(
        (row.method_id, row.walk, row.cell) for row in runs if row.outcome is Outcome.PASS
    )
    drops = [
        Drop.make_drop_at_stage(
            Stage.LABEL, row, row.method_id, Reason.NOT_REPRODUCED, lost[row.method_id]
        ).with_method(row, row.change)
        for row in rows.methods
        if row.method_id in lost
    ]
    # A method leaves the funnel once: without a label it cannot lose its track.
    kept_drops = (d for d in rows.drops if d.stage is not Stage.TRACK or d.key not in lost)
    return rows.replace_tables(
        methods=(
            _add_repeated_runs(row, added, passed)
            for row in rows.methods
            if row.method_id not in lost
        ),
        cells=chain(rows.cells, runs),
        dependency_map=(row for row in rows.dependency_map if row.method_id not in lost),
        mutants=(row for row in rows.mutants if row.method_id not in lost),
        reversals=(row for row in rows.reversals if row.method_id not in lost),
        drops=chain(kept_drops, drops),
    )


def _find_lost_labels(found: Iterable[ReverificationRecord]) -> Iterator[tuple[str, str]]:
    """Yield methods whose label was refuted, with the difference that was found first."""
    known: set[str] = set()
    for record in found:
        for method in record.methods:
            if method.lost is not None and method.method_id not in known:
                known.add(method.method_id)
                yield method.method_id, method.lost


def _collect_repeated_runs(rows: Rows) -> tuple[CellRow, ...]:
    """Return the repeated runs of segments that still count, numbered after the existing runs."""
    again = {method.method_id for record in rows.reverified for method in record.methods}
    labelled = {(row.method_id, row.walk) for row in rows.methods if row.method_id in again}
    repeats = Counter(
        (row.method_id, row.walk, row.cell) for row in rows.cells if row.method_id in again
    )
    runs = []
    for record in rows.reverified:
        for row in (run for method in record.methods for run in method.runs):
            counts = rows.keys.get((row.pair_id, row.walk)) == record.key
            if counts and (row.method_id, row.walk) in labelled:
                run_key = row.method_id, row.walk, row.cell
                runs.append(dataclasses.replace(row, repeat=repeats[run_key]))
                repeats[run_key] += 1
    return tuple(runs)


def _add_repeated_runs(
    row: MethodRow,
    added: Mapping[Place, int],
    passed: Mapping[Place, int],
) -> MethodRow:
    columns: dict[str, Any] = {}
    for cell in list_deciding_cells_of_row(row):
        run_key = row.method_id, row.walk, cell
        if added[run_key]:
            columns[f'{cell}_runs'] = getattr(row, f'{cell}_runs') + added[run_key]
            columns[f'{cell}_passes'] = getattr(row, f'{cell}_passes') + passed[run_key]
    if not columns:
        return row
    counted = dataclasses.replace(row, **columns)
    return dataclasses.replace(counted, flake_upper_95=_compute_flake_bound(counted))


def _compute_flake_bound(row: MethodRow) -> float | None:
    """Return the bound of `coevo.engine.evidence.compute_flake_bound`, from a row's counts.

    None if no cell of the row was run.
    """
    runs = [
        getattr(row, f'{cell}_runs')
        for cell in list_deciding_cells_of_row(row)
        if getattr(row, cell) is not Outcome.COMPILE_ERROR
    ]
    return compute_upper_95(min(runs)) if runs else None
