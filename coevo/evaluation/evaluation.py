"""Score predictions against the tasks of a snapshot: rows of results, and nothing judged twice."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from pathlib import Path

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.assignments import assignments
from coevo.evaluation.assignments import known_tasks
from coevo.evaluation.examination import Examination
from coevo.evaluation.examination import answers_of
from coevo.evaluation.folders import check
from coevo.evaluation.gold_patches import GOLD
from coevo.evaluation.gold_patches import gold_patches
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.measuring.judged_adequacy import AdequacySettings
from coevo.evaluation.options import Options
from coevo.evaluation.parts import tasks_of
from coevo.evaluation.predictions import checked
from coevo.evaluation.predictions import read_predictions
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.suites.records import SuiteResult
from coevo.evaluation.verified import verified
from coevo.languages import universal_mutator
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.capabilities import Capability
from coevo.languages.mutation_tools import MutationTool
from coevo.languages.table import LANGUAGES
from coevo.languages.table import offers
from coevo.model.errors import Fatal
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.listener import Say
from coevo.snapshots import snapshot
from coevo.snapshots.models import lookup
from coevo.snapshots.snapshot import Opened


@dataclass(slots=True, kw_only=True)
class Evaluation:
    """All rows, sorted by task and attempt; how many attempts were judged now, and how many before.

    suites  those of tasks that ask for a suite
    bugs  where the record lies of each bug of ours that ended an attempt, by task and number
    """

    rows: tuple[MethodResult, ...]
    judged: int
    recalled: int
    bugs: Mapping[tuple[str, int], str] = field(default_factory=dict)
    suites: tuple[SuiteResult, ...] = ()


def evaluate(options: Options, listener: Listener = SILENT) -> Evaluation:
    """Judge every wanted task's prediction; Fatal for a bad file or snapshot.

    What is finished is kept at once: after an interruption the same call goes on from there.
    """
    if options.attempts is not None and options.attempts < 1:
        raise Fatal(f'--attempts is 1 or more, and not {options.attempts}')
    if options.pit and not options.adequacy:
        raise Fatal('PIT is asked beside the other measures; leave out --no-adequacy or --pit')
    _check_caches(options)
    snapshot_sha256 = verified(options.snapshot)
    wanted = assignments(
        options.snapshot,
        options.tasks,
        options.cutoff,
        interleaved=options.interleaved,
        leaking=options.leaking,
    )
    if options.family is not None:
        wanted = tuple(one for one in wanted if one.family is options.family)
    if not wanted:
        raise Fatal('no task is left to score; name others, or an earlier cutoff, or add --leaking')
    if options.part is not None:
        wanted = tasks_of(options.part, wanted)
    opened = snapshot.unchecked((options.snapshot,))  # it was verified above
    found = _predictions(options, wanted, known_tasks(opened))
    answers = answers_of(wanted, found)
    header = _header(options, snapshot_sha256, found)
    _bring_runtimes(wanted, listener.say)
    languages = {one.task.language for one in wanted}
    if options.pit:
        for tool in _mutation_tools(languages):
            tool.fetch(listener.say)
    examination = Examination(
        options=options,
        header=header,
        ledger=_ledger(options, header, languages),
        measures=_measures(options, opened),
        listener=listener,
        total=len(answers),
    )
    examination.examine(answers)
    judged = [row for part in examination.found.values() for row in part]
    return Evaluation(
        rows=tuple(sorted(judged, key=lambda row: row.key)),
        judged=len(answers) - examination.recalled,
        recalled=examination.recalled,
        bugs=examination.bugs,
        suites=tuple(sorted(examination.suites.values(), key=lambda row: row.key)),
    )


def _bring_runtimes(wanted: Iterable[Assignment], say: Say) -> None:
    """Have what the tasks were made with, or what is like it; what fails is said."""
    versions: dict[str, set[str]] = defaultdict(set)
    for one in wanted:
        if one.task.environment:
            versions[one.task.language].add(one.task.environment.runtime)
    for language, own in sorted(versions.items()):
        runtimes = LANGUAGES[language].runtimes(brings=True, say=say)
        for version in sorted(own):
            runtimes.has(version)


def _mutation_tools(languages: Iterable[str]) -> Iterator[MutationTool]:
    for language in sorted(languages):
        if offers(language, Capability.MUTATE):
            yield LANGUAGES[language].mutation_tool()


def _pits(languages: Iterable[str]) -> tuple[str, ...]:
    versions = [tool.version() for tool in _mutation_tools(languages)] or [NOT_OFFERED]
    return tuple(f'pit {version}' for version in versions)


def _header(options: Options, snapshot_sha256: str, answers: Iterable[Prediction]) -> ResultHeader:
    named = {one.model for one in answers if one.model is not None}
    found = {name: lookup(name, options.models) for name in named}
    return ResultHeader(
        snapshot_sha256=snapshot_sha256,
        sandbox=options.sandbox,
        cutoff=options.cutoff.last_seen if options.cutoff else None,
        models={name: model for name, model in found.items() if model is not None},
    )


def _predictions(
    options: Options, wanted: Sequence[Assignment], known: Collection[str]
) -> Sequence[Prediction]:
    if options.predictions == GOLD:
        return gold_patches(wanted)
    if isinstance(options.predictions, Path):
        return read_predictions(options.predictions, known, options.attempts)
    return checked('the list', options.predictions, known, options.attempts)


def _check_caches(options: Options) -> None:
    """Fatal where one cannot be written to; another user may have made it."""
    parts = (options.judged, options.oracles, options.pit_answers)
    for folder in (options.kept, *filter(os.path.lexists, parts)):
        check(folder, '--cache')


def _ledger(options: Options, header: ResultHeader, languages: Collection[str]) -> Ledger:
    """What is measured beside gold's mutants rests on the snapshot that has them."""
    runtimes = [one for name in sorted(languages) for one in LANGUAGES[name].runtimes().known]
    measured = header.snapshot_sha256 if options.adequacy else 'verdicts'
    return Ledger(
        folder=options.judged,
        settings=(
            options.sandbox,
            str(options.test_seconds),
            measured,
            f'universalmutator {universal_mutator.is_installed()}',
            *(_pits(languages) if options.pit else ()),
            *sorted(one.version for one in runtimes),
        ),
    )


def _measures(options: Options, opened: Opened) -> AdequacySettings | None:
    if not options.adequacy:
        return None
    return AdequacySettings(
        snapshot=opened,
        kept=options.oracles,
        pit=options.pit,
        kept_pit=options.pit_answers,
    )
