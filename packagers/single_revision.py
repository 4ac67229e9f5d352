"""Build tasks of suites from the test files of revisions that a family takes.

The same file about the same code at the head and at a release, or in a fork, gives one task, at the
earliest of these revisions.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from coevo import prompts
from coevo.evaluation.judging.application import undo_patch
from coevo.git.patches import make_file_patch
from coevo.git.repository import Repository, load_content
from coevo.model.families import SCENARIOS, Family, Focus, FocusKind, Scenario, StartBuilder
from coevo.model.pair_rows import Environment, PairRow
from coevo.model.records import compute_short_hash
from coevo.model.repository_rows import RepositoryRow
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.task_rows import TaskRow
from coevo.model.words import Track, Walk
from packagers.task_commands import Environments, find_environment_to_run_suite

TRACKS: Mapping[Scenario, Track] = {
    Scenario.CREATE: Track.GENERATION,
    Scenario.REPAIR: Track.REPAIR,
    Scenario.UPDATE: Track.UPDATE,
}
"""The track of co-evolution to which a scenario is closest."""

_LATEST = datetime.max.replace(tzinfo=UTC)

Key = tuple[str, Walk]


def build_suite_tasks(
    rows: Iterable[SingleRevisionRow],
    pairs: Mapping[Key, PairRow],
    repositories: Iterable[RepositoryRow],
    clones: Mapping[str, Repository],
    environments: Environments,
) -> tuple[list[TaskRow], dict[Key, str]]:
    """Return the tasks of all families of suites, and the id of the task of each row.

    Rows without adequacy have none. Several rows that are the same have one task. The arguments are
    those of `packagers.tasks.build_tasks`.
    """
    known = {row.repo: row for row in reversed(list(repositories))}
    same: dict[tuple[str, ...], list[SingleRevisionRow]] = defaultdict(list)
    for row in rows:
        if row.adequacy is not None:
            same[_compute_identity(row, known[row.repo], clones[row.repo])].append(row)
    tasks: list[TaskRow] = []
    ids: dict[Key, str] = {}
    by_age = [
        sorted(rows, key=lambda row: _get_age_key(pairs[row.pair_id, row.walk]))
        for rows in same.values()
    ]
    # sorted so that each clone is opened once
    for same_rows in sorted(by_age, key=lambda rows: rows[0].repo):
        first, *copies = same_rows
        task = _build_task(
            first,
            copies,
            pairs[first.pair_id, first.walk],
            known[first.repo],
            clones[first.repo],
            find_environment_to_run_suite(first, environments, clones[first.repo]),
        )
        tasks.append(task)
        ids |= {(row.suite_id, row.walk): task.task_id for row in same_rows}
    return sorted(tasks, key=lambda task: task.task_id), ids


def _compute_identity(
    row: SingleRevisionRow, repository: RepositoryRow, clone: Repository
) -> tuple[str, ...]:
    """Return the key by which rows are the same task.

    It has the family of repositories, the start, the blobs of the test file and of the focus, and
    their paths.
    """
    tree = clone.tree(row.new_rev)
    gold = tree.get(row.test_file)
    blobs = [row.test_file, '' if gold is None else gold.oid]
    for focus in row.focus:
        blobs += [focus.file, _identify_focus_text(focus, clone, tree[focus.file].oid)]
    start = str(row.start_builder or StartBuilder.ABSENT), _get_gold_patch(row, clone)
    unit = () if row.unit is None else (row.unit,)
    return (repository.family or row.repo, row.language, _get_family(row), *start, *blobs, *unit)


def _identify_focus_text(focus: Focus, clone: Repository, oid: str) -> str:
    """Return what identifies the text of a focus: the id of its file's blob.

    For a function it is a hash of its own lines, so the rest of the file does not matter.
    """
    if focus.kind is not FocusKind.FUNCTION:
        return oid
    lines = clone.blob(oid).splitlines()[focus.start_line - 1 : focus.end_line]
    return hashlib.sha256(b'\n'.join(lines)).hexdigest()


def _get_family(row: SingleRevisionRow) -> Family:
    return row.family or Family.CLASS


def _get_age_key(pair: PairRow) -> tuple[datetime, str, str]:
    return pair.new_committer_date or _LATEST, pair.repo, pair.pair_id


def compute_suite_task_id(row: SingleRevisionRow) -> str:
    """Return the id of the task that a row of `single_revision` gives."""
    family = _get_family(row)
    parts = (row.repo, row.language, row.new_rev, row.new_rev, family, row.test_file)
    more = row.start_builder if family is Family.FILE else row.unit
    return compute_short_hash(*parts, *((more,) if more else ()))


def _build_task(
    row: SingleRevisionRow,
    copies: Sequence[SingleRevisionRow],
    pair: PairRow,
    repository: RepositoryRow,
    clone: Repository,
    environment: Environment | None,
) -> TaskRow:
    """Return the task of a row; `copies` are the rows of the same task."""
    start = _restore_start_file(row, clone)
    builder = row.start_builder or StartBuilder.ABSENT
    task = TaskRow(
        task_id=compute_suite_task_id(row),
        also_at=tuple(sorted(copy.pair_id for copy in copies)),
        pair_id=row.pair_id,
        repo=row.repo,
        url=repository.url,
        license=pair.license,
        language=row.language,
        track=TRACKS[SCENARIOS[builder]],
        walk=row.walk,
        old_rev=pair.old_rev,
        new_rev=pair.new_rev,
        old_is_ancestor=pair.old_is_ancestor,
        old_author_date=pair.old_author_date,
        old_committer_date=pair.old_committer_date,
        new_author_date=pair.new_author_date,
        new_committer_date=pair.new_committer_date,
        contamination_date=row.contamination_date,
        contamination_basis=row.contamination_basis,
        code_first_seen=row.unit_date,
        module=row.module,
        test_file=row.test_file,
        test_methods=(),
        method_ids=(),
        start_file_sha256=None if start is None else hashlib.sha256(start).hexdigest(),
        test_patch=_get_gold_patch(row, clone),
        source_patch='',
        dependencies=(),
        focal_method=None,
        environment=environment,
        prompt=prompts.compose_suite_prompt(row, environment),
        prompt_version=prompts.VERSION,
        family=_get_family(row),
        scenario=SCENARIOS[builder],
        start_builder=builder,
    )
    return _add_suite_facts(task, row)


def _add_suite_facts(task: TaskRow, row: SingleRevisionRow) -> TaskRow:
    """Add what mining found out about a test file and the code that it is about."""
    tests = row.executing_tests
    return replace(
        task,
        reads_sources=row.reads_sources,
        focus=row.focus,
        start_adequacy=row.start_adequacy,
        defect=row.defect,
        gold_adequacy=row.adequacy,
        unit_date=row.unit_date,
        unit=row.unit,
        complexity=row.complexity,
        executing_tests=None if tests is None else len(tests),
        executing_files=None if tests is None else len({test.test_file for test in tests}),
    )


def _restore_start_file(row: SingleRevisionRow, clone: Repository) -> bytes | None:
    """Return the test file at the start; None if it is absent."""
    return undo_patch(
        _get_gold_patch(row, clone), row.test_file, load_content(clone, row.new_rev, row.test_file)
    )


def _get_gold_patch(row: SingleRevisionRow, clone: Repository) -> str:
    """Return the patch from the start file to gold; '' if they are the same, or there is no gold.

    Rows without a stored patch start from an absent file.
    """
    if row.start_patch is not None:
        return row.start_patch
    entry = clone.tree(row.new_rev)[row.test_file]
    return make_file_patch(row.test_file, None, clone.blob(entry.oid), entry.mode)
