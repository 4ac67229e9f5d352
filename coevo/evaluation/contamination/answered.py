"""The tasks of an evaluation as the estimate takes them: first attempts, with the size of gold's patch."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.contamination.estimate import AttemptedTask
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import samples
from coevo.evaluation.reporting.maintenance import solves_task
from coevo.evaluation.results import load_results
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.evaluation.suites.results import load_suites
from coevo.model.errors import Fatal
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import resolve_location


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedTasks:
    """The tasks that were judged, and what their predictions and rows say of the model.

    cutoffs  by the name of a model, None where no source states one
    """

    tasks: Sequence[AttemptedTask]
    cutoffs: Mapping[str, str | None]


def load_attempted_tasks(place: Path | str, folder: Path) -> AttemptedTasks:
    """Fatal where the results are of another snapshot, or of no task."""
    rows = [row for row in load_results(folder) if row.attempt == 1]
    suites = [row for row in load_suites(folder) if row.attempt == 1]
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    if not both:
        raise Fatal(f'{folder} has no rows: evaluate a snapshot with at least one task')
    sha256 = hashlib.sha256(resolve_location(place).load_manifest()).hexdigest()
    if {row.snapshot_sha256 for row in both} != {sha256}:
        raise Fatal(f'{folder} scores another snapshot than {place}; name the one that it scores')
    lines = _count_patch_lines_by_task(place)
    lost = next((row.task_id for row in both if row.task_id not in lines), None)
    if lost is not None:
        raise Fatal(f'{place} holds no task {lost}, which {folder} scores; evaluate again')
    tasks = [*_list_method_attempts(rows, lines), *_list_suite_attempts(suites, lines)]
    return AttemptedTasks(
        tasks=tasks, cutoffs={row.model: row.model_cutoff for row in both if row.model is not None}
    )


def find_model_cutoff(found: AttemptedTasks) -> str:
    """The cutoff of the model that answered; Fatal where there is not exactly one that is known."""
    if len(found.cutoffs) != 1:
        named = ', '.join(sorted(found.cutoffs)) or 'none'
        raise Fatal(
            f'the predictions name {len(found.cutoffs)} models ({named}); add --cutoff DATE'
        )
    ((model, cutoff),) = found.cutoffs.items()
    if cutoff is None:
        raise Fatal(f'no source states the training cutoff of {model}; add --cutoff DATE')
    return cutoff


def count_changed_lines(patch: str) -> int:
    """Lines that a unified diff of one file adds or removes."""
    # Before its first hunk stand names, which begin like lines do.
    _, _, hunks = patch.partition('\n@@ ')
    return sum(line[:1] in ('+', '-') for line in hunks.split('\n')[1:])


def _count_patch_lines_by_task(place: Path | str) -> Mapping[str, int]:
    snapshot.require_texts(place)
    with snapshot.translate_read_errors((place,)):
        opened = snapshot.attach_snapshots((place,))
        sql = f'SELECT task_id, test_patch FROM {opened.rows["tasks"]}'
        patch_rows = opened.connection.execute(sql).fetchall()
    return {task_id: count_changed_lines(patch) for task_id, patch in patch_rows}


def _list_method_attempts(
    rows: Sequence[MethodResult], lines: Mapping[str, int]
) -> Iterator[AttemptedTask]:
    graded = [row for row in rows if row.outcome is not TaskOutcome.INFRA]
    for task_id, of in samples.group_by_task(graded).items():
        succeeding = sum(row.outcome is TaskOutcome.SUCCESS for row in of)
        yield AttemptedTask(
            task_id=task_id,
            repo=of[0].repo,
            family=str(of[0].track),
            changed_lines=lines[task_id],
            date=of[0].contamination_date,
            success=succeeding / len(of),
        )


def _list_suite_attempts(
    suites: Sequence[SuiteResult], lines: Mapping[str, int]
) -> Iterator[AttemptedTask]:
    for row in suites:
        if row.outcome is not SuiteOutcome.INFRA:
            yield AttemptedTask(
                task_id=row.task_id,
                repo=row.repo,
                family=f'{row.family} {row.start_builder or ""}'.strip(),
                changed_lines=lines[row.task_id],
                date=row.contamination_date,
                success=float(solves_task(row)),
            )
