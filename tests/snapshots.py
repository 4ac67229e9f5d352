"""Snapshots written by the tests through the real release, with dates and tasks made up."""

from __future__ import annotations

import atexit
import dataclasses
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.records import compute_short_hash
from coevo.model.task_rows import TaskRow
from coevo.storage.place import Root
from coevo.storage.store import Store
from packagers.assembly import assemble_release_rows
from packagers.manifests import SnapshotDetails
from packagers.plan import Build, BuiltTasks, ReleasePlan
from packagers.release import ReleaseReport, release_snapshot, write_snapshot as write_folder
from packagers.rows import Rows, gather_rows
from packagers.tasks import compute_gold_measures
from packagers.withdrawal import apply_earlier_snapshot
from tests import segments


def make(folder: Path, *numbers: int, store: Store | None = None) -> Path:
    """A snapshot of these pairs; pair 1 has no contamination date.

    store  where the pairs are written to; None is `store` in the folder
    """
    target = folder / 'snapshot'
    if store is not None:
        segments.fill(store, *numbers)
        write(store, target)
        return target
    original = _make_original(numbers)
    for part in original.iterdir():
        shutil.copytree(part, folder / part.name)
    return target


@cache
def _make_original(numbers: Sequence[int]) -> Path:
    """A folder with a store and a snapshot, to be copied: a release costs a CPU second."""
    folder = Path(tempfile.mkdtemp(prefix='coevo-test-'))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    store = Store(folder / 'store')
    segments.fill(store, *numbers)
    write(store, folder / 'snapshot')
    return folder


def write(
    store: Store,
    target: Root,
    build: Callable[[Rows], BuiltTasks] | None = None,
    **changed: object,
) -> ReleaseReport:
    plan = ReleasePlan(
        snapshot=target,
        date=date,
        build=for_each_family(build or build_family),
        licence=licence,
        size=size,
        families=families,
    )
    return release_snapshot(store, dataclasses.replace(plan, **changed))  # type: ignore[arg-type]


def write_unverified(store: Store, target: Path, month: str) -> None:
    """The same of rows that no mining gives, which a release refuses."""
    plan = ReleasePlan(
        snapshot=target,
        date=date,
        build=build_families,
        licence=licence,
        size=size,
        families=families,
    )
    rows = apply_earlier_snapshot(None, assemble_release_rows(gather_rows(store), plan), month)
    about = SnapshotDetails(month=month, parameters={'licences_accepted': ''}, unmined=rows.unmined)
    write_folder(target, rows, about)


def licence(repo: str, rev: str) -> str:
    return 'Apache-2.0'


def size(repo: str, rev: str, language: str) -> tuple[int, int]:
    return 3, 40


def families(repos: Sequence[str]) -> dict[str, str]:
    return {repo: repo for repo in repos}


def date(rows: Rows) -> Sequence[MethodRow]:
    """Public since its pair, as a test that never stood anywhere else; of pair 1 nobody knows."""
    dates = {pair.pair_id: pair.new_committer_date for pair in rows.pairs}
    dates[segments.pair_id(1)] = None
    return [
        dataclasses.replace(
            row, contamination_date=dates[row.pair_id], contamination_basis='branches_only'
        )
        for row in rows.methods
    ]


def for_each_family(build: Callable[[Rows], BuiltTasks]) -> Build:
    return lambda rows_of_families: ((rows, build(rows)) for rows in rows_of_families)


def build_family(rows: Rows) -> BuiltTasks:
    """A task for each pair, track and file."""
    pairs = {pair.pair_id: pair for pair in rows.pairs}
    groups: dict[tuple[str, str, str], list[MethodRow]] = defaultdict(list)
    for row in rows.methods:
        if row.track is not None:
            groups[row.pair_id, row.track, row.test_file].append(row)
    tasks = [_task(members, pairs[pair_id]) for (pair_id, _, _), members in groups.items()]
    ids = {(method_id, task.walk): task.task_id for task in tasks for method_id in task.method_ids}
    return BuiltTasks(tasks=tasks, ids=ids)


build_families = for_each_family(build_family)


def _task(rows: Sequence[MethodRow], pair: PairRow) -> TaskRow:
    row, adequacy = rows[0], compute_gold_measures(rows, {})
    assert row.track is not None
    return TaskRow(
        task_id=compute_short_hash(
            row.repo, row.language, row.old_rev, row.new_rev, row.track, row.test_file
        ),
        also_at=(),
        pair_id=row.pair_id,
        repo=row.repo,
        url=None,
        license=pair.license,
        language=row.language,
        track=row.track,
        walk=row.walk,
        old_rev=row.old_rev,
        new_rev=row.new_rev,
        old_is_ancestor=row.old_is_ancestor,
        old_author_date=pair.old_author_date,
        old_committer_date=pair.old_committer_date,
        new_author_date=pair.new_author_date,
        new_committer_date=pair.new_committer_date,
        contamination_date=row.contamination_date,
        contamination_basis=row.contamination_basis,
        code_first_seen=None,
        module=row.module,
        test_file=row.test_file,
        test_methods=tuple(f'{each.test_class}#{each.test_method}' for each in rows),
        method_ids=tuple(each.method_id for each in rows),
        start_file_sha256=None,
        test_patch=f'--- a/{row.test_file}\n+++ b/{row.test_file}\n@@ -1 +1 @@\n-old\n+now\n',
        source_patch='--- a/F.java\n+++ b/F.java\n@@ -1 +1 @@\n-int a;\n+int b;\n',
        dependencies=row.dependencies,
        dependency_list=row.dependency_list,
        focal_method=row.focal_method,
        environment=segments.ENVIRONMENT,
        coverage_gold=adequacy.coverage,
        coverage_gold_success=adequacy.coverage_success,
        mutation_score_gold=adequacy.mutation_score,
        mutation_score_gold_success=adequacy.mutation_score_success,
    )
