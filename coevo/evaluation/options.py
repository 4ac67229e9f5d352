"""The options of an evaluation, the checks of its snapshot and folders, and the tasks that options
leave out.
"""

from __future__ import annotations

import tempfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from coevo.evaluation.assignments import list_wanted_ids
from coevo.evaluation.parts import EvaluationPart
from coevo.evaluation.records import Prediction
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.cutoffs import Cutoff, LanguageModel
from coevo.snapshots.manifests import compute_release_sha256
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.disk import find_cache_folder

# The options of an evaluation, and the checks of its snapshot and folders before it starts.


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """The options of an evaluation: what is graded, with what, and where.

    predictions    a file or folder, the predictions themselves, or the word `gold`
    clones         a store or folder whose clones are used; what they lack is cloned from the tasks' URLs
    tasks, cutoff  limit the tasks; a task without a prediction fails
    part           only the tasks of some repositories, for one of several machines; None for all
    family         only tasks of that family; None for all
    attempts       only the first attempts at each task, this many; None for all
    models         models with cutoffs that take precedence over those coevo knows
    interleaved    whether to grade tasks whose old revision is no ancestor of the new one, if
                   `tasks` is None
    leaking        whether to grade tasks whose start state shows their answer, if `tasks` is None
    cache          folder for judged results; None is a folder of the tool cache
    test_seconds   CPU seconds that a test may take, ten times that in wall time, but in Java at least
                   ten minutes; None: as in mining
    adequacy       whether the adequacy of passing tests is measured
    pit            whether PIT runs its mutants, too; its answers are advisory
    fixes          whether whole test files get mechanical fixes before they are graded
    """

    snapshot: Path | str
    predictions: Path | Sequence[Prediction] | Literal['gold']
    clones: Path | None = None
    tasks: frozenset[str] | None = None
    cutoff: Cutoff | None = None
    part: EvaluationPart | None = None
    family: Family | None = None
    attempts: int | None = None
    models: Sequence[LanguageModel] = ()
    interleaved: bool = False
    leaking: bool = False
    jobs: int = 1
    sandbox: str = 'bubblewrap'
    cache: Path | None = None
    test_seconds: float | None = None
    adequacy: bool = True
    pit: bool = False
    fixes: bool = False

    @property
    def evaluation_cache(self) -> Path:
        """The folder for stored results, and for what is the same for all answers to a task."""
        return self.cache or find_cache_folder() / 'evaluations'

    @property
    def grades_folder(self) -> Path:
        """The folder of the ledger."""
        return self.evaluation_cache / 'judged'

    @property
    def oracles_folder(self) -> Path:
        """The folder for the mutants that old tests kill."""
        return self.evaluation_cache / 'oracles'

    @property
    def pit_folder(self) -> Path:
        """The folder for PIT's answers."""
        return self.evaluation_cache / 'pit'


def create_writable_folder(folder: Path, option: str) -> None:
    """Create a folder, and check that files can be written to it, before anything is run.

    Raises: Fatal if it cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        raise Fatal(
            f'{folder} cannot be written to ({error.strerror}); name another {option}'
        ) from None


def verify_and_get_sha256(snapshot: Path | str) -> str:
    """Verify a snapshot and return the SHA-256 of its manifest; of an edition, that of its release.

    Raises: Fatal unless the snapshot passes verification.
    """
    findings = verify_snapshot(snapshot)
    if findings:
        raise Fatal(
            f'{snapshot} failed verification ({findings[0].rule} in {findings[0].table}); '
            '`coevo verify` prints all faults; get the snapshot again'
        )
    return compute_release_sha256(resolve_location(snapshot))


# Tasks that --only-tasks names and that another option leaves out, each with the reason.

# Most tasks that a sentence names.
_MOST_NAMED = 10


def explain_left_out(
    place: Path | str,
    named: Collection[str],
    kept: Collection[str],
    *,
    in_views: Collection[str],
    cutoff: Cutoff | None = None,
    family: Family | None = None,
    otherwise: str = 'not graded',
) -> Iterator[str]:
    """Yield a sentence for each reason why named tasks are not among those kept.

    in_views   the named tasks that are in the views that were asked for
    otherwise  the reason for tasks that pass all of these options
    """
    lost = sorted(set(named) - set(kept))
    if not lost:
        return
    of_family = list_wanted_ids(place, lost, family=family)
    dates = _load_dates(place)
    late_enough = list_wanted_ids(place, lost, cutoff)
    by_reason: dict[str, list[str]] = defaultdict(list)
    for task_id in lost:
        if task_id not in in_views:
            reason = 'not in the view that was asked for'
        elif task_id not in of_family:
            reason = f'not of the family {family}'
        elif task_id not in late_enough:
            date = dates[task_id]
            reason = f'public since {date} and not {cutoff}' if date else 'of no known date'
        else:
            reason = otherwise
        by_reason[reason].append(task_id)
    for reason, task_ids in by_reason.items():
        more = f' and {len(task_ids) - _MOST_NAMED} more' if len(task_ids) > _MOST_NAMED else ''
        yield f'left out, {reason}: {", ".join(task_ids[:_MOST_NAMED])}{more}'


def _load_dates(place: Path | str) -> dict[str, str | None]:
    """Return the day on which each task became public; None if it is not known."""
    opened = snapshot.attach_snapshots_unchecked((place,))
    with snapshot.translate_read_errors((place,)):
        rows = opened.connection.execute(
            f"SELECT task_id, strftime(contamination_date, '%Y-%m-%d') FROM {opened.rows['tasks']}"
        ).fetchall()
    return dict(rows)
