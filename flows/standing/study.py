"""From the test files of a revision to rows of `standing`: run three times, traced, measured."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from functools import partial

from coevo.engine.cache import Cache
from coevo.engine.execution import observe
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.languages.engine import Builder
from coevo.measures.suites import Suite
from coevo.model.drops import Drop
from coevo.model.families import Family
from coevo.model.identity import method_id_in
from coevo.model.listener import Listener
from coevo.model.reasons import Reason
from coevo.model.records import Candidate
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from coevo.model.standing_rows import StandingRow
from coevo.model.words import Change
from coevo.model.words import Stage
from flows.standing import file_selection
from flows.standing.entrants import Entrants
from flows.standing.entrants import Wanted
from flows.standing.entrants import entrants
from flows.standing.finished import Finished
from flows.standing.found import Found
from flows.standing.found import ran
from flows.standing.found import started
from flows.standing.observed_suite import ObservedSuite
from flows.standing.observed_suite import StandingRevision
from flows.standing.selection import LEAST_SHARE
from flows.standing.selection import Steadiness
from flows.standing.selection import dominance
from flows.standing.selection import steadiness
from flows.standing.unit_study import unit_rows
from flows.study.context import Tools
from miners.standing import StandingFile
from miners.units import CodeUnit


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """What came of the test files of a revision; `evaluation` is None where none was run."""

    rows: tuple[StandingRow, ...] = ()
    drops: tuple[Drop, ...] = ()
    evaluation: PairEvaluation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of the test files of a revision.

    cache     of verdicts
    key       of the segment that will have the rows
    listener  hears which file is looked at
    """

    tools: Tools
    families: Sequence[Family]
    cache: Cache
    key: str
    listener: Listener


def stand(asked: Asked, pair: Pair, open_builder: Callable[[], Builder]) -> Stood:
    """The rows of all test files of a pair's new revision; Transient."""
    found = entrants(asked.tools, pair, asked.families)
    if not found.files:
        untested = (replace(unit, reason=Reason.NOT_TESTED) for unit in found.live)
        return _stood(pair, (*found.out, *untested), None)
    methods = {file.test_file: _methods_by_id(pair, file) for file, _ in found.files}
    selected = [_selected(*one) for of_file in methods.values() for one in of_file.items()]
    evaluation = observe(open_builder(), pair, selected, asked.cache)
    if evaluation.new.runtime_lacking is not None:
        return Stood(evaluation=evaluation)
    revision = StandingRevision(
        tools=asked.tools, pair=pair, evaluation=evaluation, tree=found.tree
    )
    return _stood(pair, (*found.out, *_rows(asked, revision, found, methods)), evaluation)


def _rows(
    asked: Asked,
    revision: StandingRevision,
    left: Entrants,
    methods: Mapping[str, Mapping[str, TestMethod]],
) -> Iterator[Found | CodeUnit]:
    """File by file, then unit by unit: whether a test is about a unit is asked of all files."""
    finished = Finished(entries=asked.cache.entries, key=asked.key)
    observed: dict[str, tuple[ObservedSuite, Steadiness]] = {}
    for done, (file, wanted) in enumerate(left.files):
        asked.listener.step(f'test files of {revision.rev[:7]}', done, len(left.files))
        run = _run_file(revision, file, methods[file.test_file])
        studied = partial(_studied, revision, wanted, run)
        yield from finished.rows(file.test_file, revision.evaluation.cost, studied)
        if run.observed is not None:
            observed[file.test_file] = run.observed, run.steady
    asked.listener.step(f'test files of {revision.rev[:7]}', len(left.files), len(left.files))
    if left.live:
        yield from unit_rows(revision, left.live, observed, finished)


def _stood(
    pair: Pair, found: Sequence[Found | CodeUnit], evaluation: PairEvaluation | None
) -> Stood:
    rows = [one for one in found if not isinstance(one, CodeUnit)]
    lost = [one for one in found if isinstance(one, CodeUnit)]
    return Stood(
        rows=tuple(one if isinstance(one, StandingRow) else one[0] for one in rows),
        drops=(*_drops(rows), *(_dropped_unit(pair, unit) for unit in lost)),
        evaluation=evaluation,
    )


def _drops(found: Sequence[Found]) -> Iterator[Drop]:
    for one in found:
        if not isinstance(one, StandingRow):
            row, reason, detail = one
            yield Drop.at(Stage.STANDING, row, row.standing_id, reason, detail)


def _dropped_unit(pair: Pair, unit: CodeUnit) -> Drop:
    """Of which there is no row, as no test file is about it."""
    assert unit.reason is not None, 'others have rows'
    key = short_hash(pair.pair_id, unit.family, unit.name)
    detail = f'{unit.name} {unit.detail}'.rstrip()
    return Drop.at(Stage.STANDING, pair, key, unit.reason, detail)


def _methods_by_id(pair: Pair, file: StandingFile) -> dict[str, TestMethod]:
    return {method_id_in(pair.pair_id, Change.UNCHANGED, one): one for one in file.methods}


def _selected(method_id: str, method: TestMethod) -> SelectedMethod:
    candidate = Candidate(
        change=Change.UNCHANGED, old=method, new=method, old_source=None, new_source=None
    )
    return SelectedMethod(method_id=method_id, candidate=candidate)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RanFile:
    """What the tests of a file did; `observed` is None where they do not all pass, or were not traced."""

    steady: Steadiness
    observed: ObservedSuite | None


def _run_file(
    revision: StandingRevision, file: StandingFile, methods: Mapping[str, TestMethod]
) -> _RanFile:
    steady = steadiness(revision.evaluation, methods)
    if steady.reason is not None:
        return _RanFile(steady=steady, observed=None)
    suite = Suite(module=file.module, methods=tuple(methods[one] for one in steady.passing))
    return _RanFile(steady=steady, observed=_observed(revision, file, suite))


def _studied(revision: StandingRevision, wanted: Wanted, file: _RanFile) -> Iterator[Found]:
    """What each family makes of a file."""
    for family, row in wanted.items():
        own = ran(revision, row, file.steady)
        yield from _of_family(revision, family, own, file.steady, file.observed)


def _observed(revision: StandingRevision, file: StandingFile, suite: Suite) -> ObservedSuite | None:
    """None where what the tests execute is not known."""
    runner = revision.runner()
    traced = revision.traced(suite, file.files, runner)
    traces = tuple(trace for trace in traced.traces if trace is not None)
    if traced.together is None or len(traces) < len(suite.methods):
        return None
    return ObservedSuite(
        revision=revision, file=file, suite=suite, traces=traces, together=traced.together
    )


def _of_family(
    revision: StandingRevision,
    family: Family,
    row: StandingRow,
    steady: Steadiness,
    observed: ObservedSuite | None,
) -> Iterator[Found]:
    whole, rules = family is Family.FILE, revision.tools.profile.files
    if steady.reason is not None:
        yield row, steady.reason, steady.detail
        return
    if whole and steady.cpu_seconds > rules.most_seconds:
        yield row, Reason.TESTS_TOO_SLOW, f'{steady.cpu_seconds:.0f}'
        return
    if observed is None:
        yield row, Reason.NOT_TRACED, ''
        return
    about = dominance(row.focus, observed.of_code(), 0.0 if whole else LEAST_SHARE)
    row = replace(row, focus=about.focus, focal_share=about.share)
    reason, detail = about.reason, about.detail
    if reason is None and whole:
        reason, detail = _of_focal_file(observed, row)
    if reason is not None:
        yield row, reason, detail
        return
    yield from started(family, row, observed)


def _of_focal_file(observed: ObservedSuite, row: StandingRow) -> tuple[Reason | None, str]:
    (focus,) = row.focus
    tree, rules = observed.revision.tree, observed.revision.tools.profile.files
    reason = file_selection.focal_reason(rules, focus.file, tree.content(focus.file))
    if reason is not None:
        return reason, ''
    lines = observed.together.lines.get(focus.file, ())
    return file_selection.coverage_reason(rules, tree.file(focus.file), lines)
