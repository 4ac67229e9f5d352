"""From the test files of a revision to rows of `standing`: run three times, traced, measured."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace

from coevo.engine.cache import Cache
from coevo.engine.execution import observe
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.languages.engine import Builder
from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.measures.suites import Suite
from coevo.model.drops import Drop
from coevo.model.families import UNIT_FAMILIES
from coevo.model.families import Family
from coevo.model.families import Focus
from coevo.model.families import FocusKind
from coevo.model.identity import method_id_in
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason
from coevo.model.records import Candidate
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from coevo.model.standing_rows import StandingRow
from coevo.model.words import Change
from coevo.model.words import Stage
from flows.standing import file_selection
from flows.standing.found import Found
from flows.standing.found import begun
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
from miners.standing import standing_files
from miners.units import CodeUnit
from miners.units import code_units


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """What came of the test files of a revision; `evaluation` is None where none was run."""

    rows: tuple[StandingRow, ...] = ()
    drops: tuple[Drop, ...] = ()
    evaluation: PairEvaluation | None = None


Wanted = Mapping[Family, StandingRow]
"""The families that may take a file, with the row that each begins with."""


def stand(
    tools: Tools,
    pair: Pair,
    cache: Cache,
    open_builder: Callable[[], Builder],
    families: Sequence[Family],
) -> Stood:
    """The rows of all test files of a pair's new revision; Transient."""
    tree = reading(pair.language).tree(tools.repository, pair.new.rev)
    units = list(code_units(tree, pair.language, families, tools.profile))
    live = [unit for unit in units if unit.reason is None]
    found: list[Found] = []
    left: list[tuple[StandingFile, Wanted]] = []
    for file in standing_files(tools.repository, pair.new.rev, pair.language):
        wanted: dict[Family, StandingRow] = {}
        for family in families:
            if family in UNIT_FAMILIES:
                continue
            row = begun(pair, file, family, _focus(tree, file, family))
            reason = file.reason or _before(tools.profile.files, tree, file, family)
            if reason is None:
                wanted[family] = row
            else:
                found.append((row, reason, ''))
        if wanted or (live and file.is_worth_running):
            left.append((file, wanted))
    evaluation = None
    if left:
        methods = {file.test_file: _methods_by_id(pair, file) for file, _ in left}
        selected = [_selected(*one) for file, _ in left for one in methods[file.test_file].items()]
        evaluation = observe(open_builder(), pair, selected, cache)
        if evaluation.new.runtime_lacking is not None:
            return Stood(evaluation=evaluation)
        revision = StandingRevision(tools=tools, pair=pair, evaluation=evaluation, tree=tree)
        observed: dict[str, tuple[ObservedSuite, Steadiness]] = {}
        for file, rows_of in left:
            ran_file = _run_file(revision, file, methods[file.test_file])
            found += _studied(revision, rows_of, ran_file)
            if ran_file.observed is not None:
                observed[file.test_file] = ran_file.observed, ran_file.steady
        rest = list(unit_rows(revision, live, observed)) if live else []
        found += [one for one in rest if not isinstance(one, CodeUnit)]
        live = [one for one in rest if isinstance(one, CodeUnit)]
    elif live:
        live = [replace(unit, reason=Reason.NOT_TESTED) for unit in live]
    lost = [*(unit for unit in units if unit.reason is not None), *live]
    return Stood(
        rows=tuple(one if isinstance(one, StandingRow) else one[0] for one in found),
        drops=(*_drops(found), *(_dropped_unit(pair, unit) for unit in lost)),
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


# -- before anything is run ------------------------------------------------------------------------


def _focus(tree: Tree, file: StandingFile, family: Family) -> tuple[Focus, ...]:
    if family is not Family.FILE:
        return file.named
    return tuple(_whole(tree, one) for one in file.modules or file.named)


def _whole(tree: Tree, one: Focus) -> Focus:
    """The file of a class."""
    last = max(1, file_selection.line_count(tree.content(one.file)))
    return replace(one, kind=FocusKind.FILE, start_line=1, end_line=last)


def _before(rules: FileRules, tree: Tree, file: StandingFile, family: Family) -> Reason | None:
    """Of several files that it may be about, the reason of all."""
    if family is not Family.FILE:
        return None if file.named else Reason.NO_TEST_CLASS
    reason = file_selection.test_reason(rules, tree.content(file.test_file), len(file.methods))
    if reason is not None:
        return reason
    reasons = [
        file_selection.focal_reason(rules, one.file, tree.content(one.file))
        for one in file.modules or file.named
    ]
    return reasons[0] if None not in reasons else None


def _methods_by_id(pair: Pair, file: StandingFile) -> dict[str, TestMethod]:
    return {method_id_in(pair.pair_id, Change.UNCHANGED, one): one for one in file.methods}


def _selected(method_id: str, method: TestMethod) -> SelectedMethod:
    candidate = Candidate(
        change=Change.UNCHANGED, old=method, new=method, old_source=None, new_source=None
    )
    return SelectedMethod(method_id=method_id, candidate=candidate)


# -- after all was run -----------------------------------------------------------------------------


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
