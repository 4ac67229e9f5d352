"""The tasks of an evaluation for the estimate: first attempts, with the size of gold's patch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.evaluation.contamination.estimate import AttemptedTask
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.figures import open_results
from coevo.evaluation.results import load_results
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.suites.results import load_suites
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.texts import TEXTS_WITHHELD
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.manifests import compute_release_sha256

# The success of a task is the share of its methods that succeed, or whether its suite is solved.
_TASKS = """
SELECT task_id, min(repo), min(track), count(*) FILTER (outcome = 'success') / count(*)
FROM graded GROUP BY task_id
UNION ALL
SELECT task_id, repo, concat_ws(' ', family, start_builder), solved::DOUBLE FROM judged
ORDER BY task_id
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptedTasks:
    """The tasks that were judged, and the cutoffs of the models that the predictions name.

    cutoffs  by the name of a model; None if no source states one
    """

    tasks: Sequence[AttemptedTask]
    cutoffs: Mapping[str, str | None]


def load_attempted_tasks(place: Path | str, folder: Path) -> AttemptedTasks:
    """Return the tasks of a folder of results, each with the success of its first attempt.

    Raises: Fatal if the results are of another snapshot, have no rows, or name a task that the
    snapshot lacks.
    """
    rows = [row for row in load_results(folder) if row.attempt == 1]
    suites = [row for row in load_suites(folder) if row.attempt == 1]
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    if not both:
        raise Fatal(f'{folder} has no rows: evaluate a snapshot with at least one task')
    sha256 = compute_release_sha256(resolve_location(place))
    if {row.snapshot_sha256 for row in both} != {sha256}:
        raise Fatal(
            f'{folder} scores another snapshot than {place}; name the snapshot that it scores'
        )
    lines = _count_patch_lines_by_task(place)
    lost = next((row.task_id for row in both if row.task_id not in lines), None)
    if lost is not None:
        raise Fatal(f'{place} has no task {lost}, which {folder} scores; evaluate again')
    tasks = list(_list_tasks(rows, suites, lines))
    return AttemptedTasks(
        tasks=tasks, cutoffs={row.model: row.model_cutoff for row in both if row.model is not None}
    )


def find_model_cutoff(found: AttemptedTasks) -> str:
    """Return the cutoff of the model that answered.

    Raises: Fatal if there is not exactly one model, or if its cutoff is unknown.
    """
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
    """Return the number of lines that a unified diff of one file adds or removes."""
    # The `---` and `+++` lines before the first hunk begin like changed lines.
    _, _, hunks = patch.partition('\n@@ ')
    return sum(line[:1] in ('+', '-') for line in hunks.split('\n')[1:])


def _count_patch_lines_by_task(place: Path | str) -> Mapping[str, int]:
    snapshot.require_texts(place)
    with snapshot.translate_read_errors((place,)):
        opened = snapshot.attach_snapshots((place,))
        sql = (
            f"SELECT task_id, CASE family WHEN '{Family.IMPLEMENT}' THEN source_patch "
            f'ELSE test_patch END FROM {opened.rows["tasks"]} WHERE NOT {TEXTS_WITHHELD}'
        )
        patch_rows = opened.connection.execute(sql).fetchall()
    return {task_id: count_changed_lines(patch) for task_id, patch in patch_rows}


def _list_tasks(
    rows: Sequence[MethodResult], suites: Sequence[SuiteResult], lines: Mapping[str, int]
) -> Iterator[AttemptedTask]:
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    dates = {row.task_id: row.contamination_date for row in both}
    with open_results(['methods', 'suites'], [rows], suites) as connection:
        tasks = connection.execute(_TASKS).fetchall()
    for task_id, repo, family, success in tasks:
        yield AttemptedTask(
            task_id=task_id,
            repo=repo,
            family=family,
            changed_lines=lines[task_id],
            date=dates[task_id],
            success=success,
        )
