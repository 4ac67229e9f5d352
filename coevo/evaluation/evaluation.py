"""Evaluation of predictions against the tasks of a snapshot; nothing is graded twice."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from coevo.display.terminal import escape_controls
from coevo.evaluation import results
from coevo.evaluation.assignments import (
    Assignment,
    describe_withheld_tasks,
    list_attempts,
    list_task_ids,
    load_assignments,
)
from coevo.evaluation.examination import GradingRun
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.measuring.strict import fill_missing_strict_askable
from coevo.evaluation.options import (
    EvaluationOptions,
    create_writable_folder,
    verify_and_get_sha256,
)
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.parts import select_tasks
from coevo.evaluation.predictions import (
    GOLD,
    check_and_select_predictions,
    load_predictions,
    make_gold_predictions,
)
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.reporting import report
from coevo.evaluation.reporting.cells import pluralise
from coevo.evaluation.reporting.records import Report
from coevo.evaluation.results import write_or_remove_suites, write_results
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.suites.records import SuiteOutcome, SuiteResult
from coevo.languages import universal_mutator
from coevo.languages.capabilities import NOT_OFFERED, Capability
from coevo.languages.mutation import MutationTool
from coevo.languages.table import LANGUAGES, offers_capability
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT, Listener, Say
from coevo.snapshots import snapshot
from coevo.snapshots.catalogue import resolve_location
from coevo.snapshots.cutoffs import find_model
from coevo.snapshots.manifests import refuse_without_gold
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
    _refuse_contradictions(options)
    _check_caches(options)
    refuse_without_gold(resolve_location(options.snapshot), 'answers are graded by them')
    snapshot_sha256 = verify_and_get_sha256(options.snapshot)
    wanted = _select_assignments(options, listener.say)
    opened = snapshot.attach_snapshots_unchecked((options.snapshot,))  # verified above
    wanted = fill_missing_strict_askable(opened, wanted)
    predictions = _load_predictions(options, wanted, list_task_ids(opened))
    answers = list_attempts(wanted, predictions)
    header = _make_header(options, snapshot_sha256, predictions)
    missing_runtimes = _install_runtimes_and_list_missing(wanted, listener.say)
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


def _refuse_contradictions(options: EvaluationOptions) -> None:
    if options.attempts is not None and options.attempts < 1:
        raise Fatal(f'--only-attempts must be 1 or more, not {options.attempts}')
    if options.pit and not options.adequacy:
        raise Fatal(
            'PIT runs only together with the other measures; leave out `pit` or `adequacy = false`'
        )


def _select_assignments(options: EvaluationOptions, say: Say) -> tuple[Assignment, ...]:
    """Return the assignments of the wanted tasks; say which are left out unless they were named.

    Raises: Fatal if none is left.
    """
    wanted = load_assignments(
        options.snapshot,
        options.tasks,
        options.cutoff,
        interleaved=options.interleaved,
        leaking=options.leaking,
    )
    if options.tasks is None and (left_out := describe_withheld_tasks(options.snapshot)):
        say(left_out)
    if options.family is not None:
        wanted = tuple(assignment for assignment in wanted if assignment.family is options.family)
    if options.predictions == GOLD:
        wanted = tuple(assignment for assignment in wanted if assignment.was_gold_written)
    if not wanted:
        raise Fatal(
            'no task is left to score; select other tasks, give an earlier cutoff, or set '
            '`leaking = true`'
        )
    return wanted if options.part is None else select_tasks(options.part, wanted)


def _install_runtimes_and_list_missing(
    wanted: Iterable[Assignment], say: Say
) -> frozenset[tuple[str, str]]:
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
            (language, version) for version in sorted(own) if not runtimes.try_to_provide(version)
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
        cutoff=options.cutoff.last_day_not_clean if options.cutoff else None,
        models={name: model for name, model in known_models.items() if model is not None},
    )


def _load_predictions(
    options: EvaluationOptions, wanted: Sequence[Assignment], known: Collection[str]
) -> Sequence[Prediction]:
    if options.predictions == GOLD:
        return make_gold_predictions(wanted)
    if isinstance(options.predictions, Path):
        return load_predictions(options.predictions, known, options.attempts)
    return check_and_select_predictions('the list', options.predictions, known, options.attempts)


def _check_caches(options: EvaluationOptions) -> None:
    """Check that the cache and its existing parts can be written to.

    Another user may have created it.

    Raises: Fatal if one cannot.
    """
    parts = (options.grades_folder, options.oracles_folder, options.pit_folder)
    for folder in (options.evaluation_cache, *filter(os.path.lexists, parts)):
        create_writable_folder(folder, 'cache')


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


def write_evaluation(out: Path, evaluation: Evaluation) -> Report:
    """Write the results, then `junit.xml` and `report.json`, and return the report.

    The results are `results.parquet` and, if there are suites, `suites.parquet`.
    """
    write_results(out, evaluation.rows)
    write_or_remove_suites(out, evaluation.suites)
    results.write_junit(out, evaluation.rows)
    return report.write_report(out, evaluation.rows, evaluation.suites)


def summarise_evaluation(evaluation: Evaluation, out: Path) -> Iterator[str]:
    """Yield sentences for the user: outcomes, costs, and what to do about trouble."""
    rows, suites = evaluation.rows, evaluation.suites
    both: Sequence[MethodResult | SuiteResult] = (*rows, *suites)
    if rows:
        outcomes = Counter(row.outcome for row in rows)
        tasks = len({row.task_id for row in rows})
        times = f', {max(row.attempt for row in rows)} attempts at most'
        times = times if any(row.attempt > 1 for row in rows) else ''
        counts = ', '.join(f'{name} {outcomes[name]}' for name in TaskOutcome if outcomes[name])
        yield f'{pluralise(tasks, "task")}, {pluralise(len(rows), "method")}{times}: {counts}'
    if suites:
        yield f'{pluralise(len(suites), "suite")}: {_describe_suites(suites)}'
    verdicts = sum(row.cpu_seconds for row in both)
    adequacy = sum(row.adequacy.cpu_seconds for row in rows if row.adequacy)
    pit_kills = [row.adequacy.pit for row in rows if row.adequacy and row.adequacy.pit]
    by_pit = f', {sum(kills.cpu_seconds for kills in pit_kills):.0f} for PIT' if pit_kills else ''
    what = 'attempt' if any(row.attempt > 1 for row in both) else 'task'
    yield (
        f'{pluralise(evaluation.judged, what)} graded now, {evaluation.recalled} graded '
        f'before; together they took {verdicts:.0f} CPU seconds for verdicts, {adequacy:.0f} '
        f'for adequacy{by_pit}'
    )
    unanswered = {row.task_id for row in both if row.detail is Detail.NO_PREDICTION}
    if unanswered:
        yield (
            f'{pluralise(len(unanswered), "task")} without a prediction: their methods count as '
            'hrns_fail'
        )
    tampered = Counter(row.tampered for row in rows if row.detail is Detail.TAMPERED)
    tampered += Counter(test.tampered for row in suites for test in row.tests if test.tampered)
    if tampered:
        kinds = ', '.join(f'{kind} {count}' for kind, count in sorted(tampered.items()))
        yield f'tampered: {kinds}'
    yield from describe_trouble(evaluation)
    if evaluation.bugs:
        records = ', '.join(sorted(evaluation.bugs.values()))
        yield (
            f'{pluralise(len(evaluation.bugs), what)} ended with a bug in coevo; please report '
            f'{records}'
        )
    files = (
        'results.parquet',
        *(('suites.parquet',) if suites else ()),
        'report.json',
        'junit.xml',
    )
    yield f'{out}: {", ".join(files)}'


def describe_trouble(evaluation: Evaluation) -> Iterator[str]:
    """Yield a sentence for each attempt that coevo's own trouble kept from being graded.

    A last sentence says what to do. Nothing is yielded if there is no such attempt.
    """
    both: Sequence[MethodResult | SuiteResult] = (*evaluation.rows, *evaluation.suites)
    troubled = (row for row in both if row.outcome in (TaskOutcome.INFRA, SuiteOutcome.INFRA))
    trouble = {(row.task_id, row.attempt, row.detail, row.said) for row in troubled}
    for task_id, attempt, detail, message in sorted(trouble):
        which = f'{task_id}, attempt {attempt},' if attempt > 1 else task_id
        yield f'{which} could not be graded ({detail}): {escape_controls(message)}'
    if trouble:
        yield 'What could not be graded counts nowhere; run the same command to try again.'


def _describe_suites(suites: Sequence[SuiteResult]) -> str:
    outcomes = Counter(row.outcome for row in suites)
    return ', '.join(f'{name} {outcomes[name]}' for name in SuiteOutcome if outcomes[name])


def evaluate_into_folder(
    place: Path | str,
    predictions: Mapping[str, str] | Path | Literal['gold'],
    out: Path,
    clones: Path | None,
    tasks: Collection[str] | None,
    *,
    jobs: int,
    adequacy: bool,
) -> Report:
    """Evaluate answers, and write into `out` what `coevo evaluate` writes.

    predictions  patches by task id, a file or folder of predictions, or the word `gold`
    tasks        ids of the tasks to score; None for all

    Raises: Fatal for a bad file, snapshot or task id, or if `out` cannot be written to.
    """
    create_writable_folder(out, '`out`')
    options = EvaluationOptions(
        snapshot=place,
        predictions=_convert_predictions(predictions),
        clones=clones,
        tasks=None if tasks is None else frozenset(tasks),
        jobs=jobs,
        adequacy=adequacy,
    )
    return write_evaluation(out, evaluate(options))


def _convert_predictions(
    given: Mapping[str, str] | Path | Literal['gold'],
) -> Sequence[Prediction] | Path | Literal['gold']:
    if not isinstance(given, Mapping):
        return given
    return [
        Prediction(task_id=task_id, patch=patch.encode('utf-8', 'surrogateescape'))
        for task_id, patch in sorted(given.items())
    ]
