"""The tasks of a snapshot that are exported, those that are left out, and why."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from coevo.agents.templates import compose_task_question
from coevo.evaluation.assignments import Assignment, describe_withheld_tasks, load_assignments
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.start_states import StartStateLost, StartStates, restore_start_file
from coevo.evaluation.reporting.cells import pluralise
from coevo.git.clones import NoRepository
from coevo.git.repository import CorruptObject, Repository, load_content
from coevo.model.column import Choice
from coevo.model.errors import Fatal
from coevo.model.families import Family
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.cutoffs import Cutoff
from coevo.snapshots.manifests import load_manifest_at


class LeftOut(Choice):
    """A reason why a wanted task is not exported."""

    NO_REPOSITORY = (
        'no_repository',
        'their repository has no address and no clone of it is known (--clones)',
    )
    NO_START_STATE = 'no_start_state', 'their start state cannot be made of snapshot and clone'
    NO_PROMPT = 'no_prompt', 'the snapshot has no prompt of them'
    SUITE = 'suite', 'they ask for a whole test file, for which SWE-bench has no form'
    EXTENSION = 'extension', 'they are extensions, whose tests pass at the start already'
    NOT_TEXT = 'not_text', 'a patch of them is not UTF-8'
    NO_GOLD = (
        'no_gold',
        'they have no answer of developers, which a verifier of Harbor grades first',
    )
    NO_ENVIRONMENT = 'no_environment', 'the snapshot does not know their environment'
    ENVIRONMENT_LOST = (
        'environment_lost',
        'the registries of this machine no longer have what their tests need',
    )
    NOT_RUNNABLE = 'not_runnable', 'the test command of their environment does not run in an image'
    NOT_BUILT = 'not_built', '`coevo images build` wrote no image of them there (--images)'
    NO_IMAGE = 'no_image', 'coevo names no image for their language'


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The tasks that a user wants.

    tasks        ids; None for all
    track        only tasks of this track; None for all
    family       only tasks of this family; None for all
    interleaved  whether tasks count whose old revision is no ancestor of the new one
    leaking      whether tasks count whose start state shows their answer
    """

    snapshot: Path | str
    clones: Path | None = None
    tasks: frozenset[str] | None = None
    cutoff: Cutoff | None = None
    track: Track | None = None
    family: Family | None = None
    interleaved: bool = False
    leaking: bool = False


@dataclass(slots=True)
class Omissions:
    """The tasks that were left out, counted by reason."""

    counts: Counter[LeftOut] = field(default_factory=Counter)

    def add(self, reason: LeftOut, count: int = 1) -> None:
        """Count tasks that are left out."""
        self.counts[reason] += count

    @property
    def sentences(self) -> Iterator[str]:
        """A sentence for each reason, in the order of the reasons."""
        for reason in LeftOut:
            if self.counts[reason]:
                yield f'{pluralise(self.counts[reason], "task")} left out: {reason.clause}'


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskTexts:
    """A task with the texts that its clone holds.

    start     the test file at the start; None if it is absent there
    gold      the test file of the new revision; None if it is absent there
    question  what the baseline one-shot asks: the prompt, the files, the form of the answer
    """

    assignment: Assignment
    start: bytes | None
    gold: bytes | None
    question: str

    @property
    def task(self) -> TaskRow:
        """The row of the task."""
        return self.assignment.task


def select_tasks(selection: Selection) -> tuple[Assignment, ...]:
    """Return the wanted tasks that have their texts, by repository and date.

    Raises: Fatal for a code-free edition, and for an id that the snapshot lacks.
    """
    assignments = load_assignments(
        selection.snapshot,
        selection.tasks,
        selection.cutoff,
        interleaved=selection.interleaved,
        leaking=selection.leaking,
    )
    return tuple(assignment for assignment in assignments if _is_wanted(assignment, selection))


def _is_wanted(assignment: Assignment, selection: Selection) -> bool:
    right_track = selection.track is None or assignment.task.track is selection.track
    return right_track and selection.family in (None, assignment.family)


def describe_withheld(selection: Selection) -> str | None:
    """Return a sentence about tasks whose texts the snapshot withholds; None if there are none."""
    return None if selection.tasks is not None else describe_withheld_tasks(selection.snapshot)


def open_repositories_with_tasks(
    wanted: Sequence[Assignment], clones: Path | None, omissions: Omissions
) -> Iterator[tuple[Repository, tuple[Assignment, ...]]]:
    """Yield each repository with its tasks; those without a repository are counted.

    Raises: Transient if a repository cannot be fetched for now.
    """
    for _, group in groupby(wanted, key=lambda assignment: assignment.task.repo):
        of_repository = tuple(group)
        try:
            with open_task_repository(
                [assignment.task for assignment in of_repository], clones
            ) as repository:
                yield repository, of_repository
        except NoRepository:
            omissions.add(LeftOut.NO_REPOSITORY, len(of_repository))


def load_task_texts(
    repository: Repository, assignment: Assignment, omissions: Omissions
) -> TaskTexts | None:
    """Return a task with its texts; None, counted, if it has no prompt or no start state."""
    task = assignment.task
    if task.prompt is None:
        omissions.add(LeftOut.NO_PROMPT)
        return None
    try:
        start = restore_start_file(repository, task)
        return TaskTexts(
            assignment=assignment,
            start=start,
            gold=load_content(repository, task.new_rev, task.test_file),
            question=compose_task_question(repository, task, start),
        )
    except (StartStateLost, CorruptObject):
        omissions.add(LeftOut.NO_START_STATE)
        return None


def commit_start(states: StartStates, texts: TaskTexts, omissions: Omissions) -> str | None:
    """Return the start state of a task as a commit; None, counted, if it cannot be made."""
    try:
        return states.commit(texts.task, texts.start)
    except (StartStateLost, CorruptObject):
        omissions.add(LeftOut.NO_START_STATE)
        return None


def refuse_empty_export(count: int, omissions: Omissions) -> None:
    """Raise Fatal if nothing is left to export, with the reasons."""
    if count:
        return
    reasons = '; '.join(omissions.sentences) or 'the options select no task'
    raise Fatal(f'there is nothing to export: {reasons}; choose other tasks')


# A text by which a publisher marks data, so that it can be found in what a model was trained on.
CANARY = 'canary'


def describe_task(task: TaskRow, release: Mapping[str, str | None]) -> dict[str, object]:
    """Return the metadata of a task: where it is from, when it was public, what it asks.

    release  what `describe_release` returned
    """
    return {
        **release,
        'task_id': task.task_id,
        'pair_id': task.pair_id,
        'repo': task.repo,
        'url': task.url,
        'license': task.license,
        'language': task.language,
        'track': str(task.track),
        'family': str(task.family or Family.COEVOLUTION),
        'scenario': None if task.scenario is None else str(task.scenario),
        'old_rev': task.old_rev,
        'new_rev': task.new_rev,
        'old_date': format_date(task.old_committer_date),
        'new_date': format_date(task.new_committer_date),
        'contamination_date': format_date(task.contamination_date),
        'contamination_basis': None
        if task.contamination_basis is None
        else str(task.contamination_basis),
        'code_first_seen': format_date(task.code_first_seen),
        'released': task.released,
        'test_file': task.test_file,
        'test_methods': list(task.test_methods or task.shown_target_names),
        'prompt_version': task.prompt_version,
        'leak': task.leak,
    }


def describe_release(place: Path | str, snapshot_sha256: str) -> dict[str, str | None]:
    """Return the month and checksum of a release, and the canary that its manifest may have."""
    manifest = load_manifest_at(resolve_location(place))
    canary = manifest.get(CANARY)
    return {
        'month': str(manifest['month']),
        'snapshot_sha256': snapshot_sha256,
        CANARY: canary if isinstance(canary, str) else None,
    }


def format_date(date: datetime | None) -> str | None:
    """Return a time as ISO 8601 in UTC, such as `2026-05-01T12:00:00Z`; None for None."""
    return None if date is None else f'{date.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}'


def encode_json_lines(rows: Iterable[Mapping[str, object]]) -> bytes:
    """Return rows as JSON lines. They are ASCII: some readers split at other line ends, too."""
    return b''.join(json.dumps(row, sort_keys=True).encode() + b'\n' for row in rows)
