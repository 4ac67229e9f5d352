"""Evaluation of predictions against the tasks of a snapshot; nothing is graded twice."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from coevo.evaluation.assignments import (
    Assignment,
    describe_withheld_tasks,
    list_attempts,
    list_task_ids,
    load_assignments,
)
from coevo.evaluation.examination import GradingRun
from coevo.evaluation.folders import check_writable
from coevo.evaluation.gold_patches import GOLD, make_gold_predictions
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.askable import add_strict_askable
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.parts import select_tasks
from coevo.evaluation.predictions import check_predictions, load_predictions
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.verified import require_verified
from coevo.languages import universal_mutator
from coevo.languages.capabilities import NOT_OFFERED, Capability
from coevo.languages.mutation_tools import MutationTool
from coevo.languages.table import LANGUAGES, offers_capability
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT, Listener, Say
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.manifests import refuse_without_gold
from coevo.snapshots.models import find_model
from coevo.snapshots.snapshot import OpenedSnapshots


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """The rows of an evaluation, sorted by task and attempt.

    rows      those of methods
    judged    the number of attempts that were graded now
    recalled  the number of attempts whose results were in the ledger
    bugs      by task and attempt, the place of the record of a bug of coevo that ended it
    suites    those of suite tasks
    """

    rows: tuple[MethodResult, ...]
    judged: int
    recalled: int
    bugs: Mapping[tuple[str, int], str] = field(default_factory=dict)
    suites: tuple[SuiteResult, ...] = ()


def evaluate(options: EvaluationOptions, listener: Listener = SILENT) -> Evaluation:
    """Grade the predictions for all wanted tasks.

    Runtimes that the tasks need are installed first. Each finished result is kept at once, so that
    the same call continues after an interruption.
    Raises: Fatal for a bad file or snapshot, or for options that contradict each other.
    """
    if options.attempts is not None and options.attempts < 1:
        raise Fatal(f'--only-attempts must be 1 or more, not {options.attempts}')
    if options.pit and not options.adequacy:
        raise Fatal(
            'PIT runs only together with the other measures; leave out `pit` or `adequacy = false`'
        )
    _check_caches(options)
    refuse_without_gold(resolve_location(options.snapshot), 'answers are graded by them')
    snapshot_sha256 = require_verified(options.snapshot)
    wanted = load_assignments(
        options.snapshot,
        options.tasks,
        options.cutoff,
        interleaved=options.interleaved,
        leaking=options.leaking,
    )
    if options.tasks is None and (left_out := describe_withheld_tasks(options.snapshot)):
        listener.say(left_out)
    if options.family is not None:
        wanted = tuple(assignment for assignment in wanted if assignment.family is options.family)
    if options.predictions == GOLD:
        wanted = tuple(assignment for assignment in wanted if assignment.has_gold)
    if not wanted:
        raise Fatal(
            'no task is left to score; select other tasks, give an earlier cutoff, or set '
            '`leaking = true`'
        )
    if options.part is not None:
        wanted = select_tasks(options.part, wanted)
    opened = snapshot.attach_snapshots_unchecked((options.snapshot,))  # verified above
    wanted = add_strict_askable(opened, wanted)
    predictions = _load_predictions(options, wanted, list_task_ids(opened))
    answers = list_attempts(wanted, predictions)
    header = _make_header(options, snapshot_sha256, predictions)
    missing_runtimes = _install_runtimes(wanted, listener.say)
    languages = {assignment.task.language for assignment in wanted}
    if options.pit:
        for tool in _list_mutation_tools(languages):
            tool.fetch(listener.say)
    examination = GradingRun(
        options=options,
        header=header,
        ledger=_open_ledger(options, header, languages),
        measures=_make_adequacy_settings(options, opened),
        listener=listener,
        total=len(answers),
        missing_runtimes=missing_runtimes,
    )
    examination.grade_attempts(answers)
    judged = [row for part in examination.method_results.values() for row in part]
    return Evaluation(
        rows=tuple(sorted(judged, key=lambda row: row.key)),
        judged=len(answers) - examination.recalled,
        recalled=examination.recalled,
        bugs=examination.bugs,
        suites=tuple(sorted(examination.suites.values(), key=lambda row: row.key)),
    )


def _install_runtimes(wanted: Iterable[Assignment], say: Say) -> frozenset[tuple[str, str]]:
    """Install the runtimes with which the tasks were made, or others of the same releases.

    Return those that cannot be provided, by language and version. A test can behave differently
    under another release, so their tasks are not graded.
    """
    versions: dict[str, set[str]] = defaultdict(set)
    for assignment in wanted:
        if assignment.task.environment:
            versions[assignment.task.language].add(assignment.task.environment.runtime)
    missing = set()
    for language, own in sorted(versions.items()):
        runtimes = LANGUAGES[language].make_runtimes(brings=True, say=say)
        missing |= {
            (language, version) for version in sorted(own) if not runtimes.can_provide(version)
        }
    return frozenset(missing)


def _list_mutation_tools(languages: Iterable[str]) -> Iterator[MutationTool]:
    for language in sorted(languages):
        if offers_capability(language, Capability.MUTATE):
            yield LANGUAGES[language].get_mutation_tool()


def _list_pit_versions(languages: Iterable[str]) -> tuple[str, ...]:
    versions = [tool.find_version() for tool in _list_mutation_tools(languages)] or [NOT_OFFERED]
    return tuple(f'pit {version}' for version in versions)


def _make_header(
    options: EvaluationOptions, snapshot_sha256: str, answers: Iterable[Prediction]
) -> ResultHeader:
    named = {prediction.model for prediction in answers if prediction.model is not None}
    known_models = {name: find_model(name, options.models) for name in named}
    return ResultHeader(
        snapshot_sha256=snapshot_sha256,
        sandbox=options.sandbox,
        cutoff=options.cutoff.last_seen if options.cutoff else None,
        models={name: model for name, model in known_models.items() if model is not None},
    )


def _load_predictions(
    options: EvaluationOptions, wanted: Sequence[Assignment], known: Collection[str]
) -> Sequence[Prediction]:
    if options.predictions == GOLD:
        return make_gold_predictions(wanted)
    if isinstance(options.predictions, Path):
        return load_predictions(options.predictions, known, options.attempts)
    return check_predictions('the list', options.predictions, known, options.attempts)


def _check_caches(options: EvaluationOptions) -> None:
    """Check that the cache and its existing parts can be written to.

    Another user may have created it.

    Raises: Fatal if one cannot.
    """
    parts = (options.grades_folder, options.oracles_folder, options.pit_folder)
    for folder in (options.evaluation_cache, *filter(os.path.lexists, parts)):
        check_writable(folder, 'cache')


def _open_ledger(
    options: EvaluationOptions, header: ResultHeader, languages: Collection[str]
) -> Ledger:
    """Return the ledger; with adequacy, its keys contain the snapshot, which has gold's mutants."""
    runtimes = [
        runtime for name in sorted(languages) for runtime in LANGUAGES[name].make_runtimes().known
    ]
    measured = header.snapshot_sha256 if options.adequacy else 'verdicts'
    return Ledger(
        folder=options.grades_folder,
        settings=(
            options.sandbox,
            str(options.test_seconds),
            measured,
            f'universalmutator {universal_mutator.is_installed()}',
            *(_list_pit_versions(languages) if options.pit else ()),
            *(('mechanical fixes',) if options.fixes else ()),
            *sorted(runtime.version for runtime in runtimes),
        ),
    )


def _make_adequacy_settings(
    options: EvaluationOptions, opened: OpenedSnapshots
) -> AdequacySettings | None:
    if not options.adequacy:
        return None
    return AdequacySettings(
        snapshot=opened,
        oracle_folder=options.oracles_folder,
        pit=options.pit,
        kept_pit=options.pit_folder,
    )
