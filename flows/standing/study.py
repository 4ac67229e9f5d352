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
from coevo.git.patches import file_patch
from coevo.languages.engine import Builder
from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.measures.suites import Suite
from coevo.model.drops import Drop
from coevo.model.families import Family
from coevo.model.families import Focus
from coevo.model.families import FocusKind
from coevo.model.families import StartBuilder
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
from flows.standing.observed_suite import ObservedSuite
from flows.standing.observed_suite import StandingRevision
from flows.standing.selection import LEAST_SHARE
from flows.standing.selection import Steadiness
from flows.standing.selection import dominance
from flows.standing.selection import steadiness
from flows.standing.started import NoStart
from flows.standing.starts import BUILDERS
from flows.standing.starts import STARTS
from flows.study.context import Tools
from miners.standing import StandingFile
from miners.standing import standing_files


@dataclass(frozen=True, slots=True, kw_only=True)
class Stood:
    """What came of the test files of a revision; `evaluation` is None where none was run."""

    rows: tuple[StandingRow, ...] = ()
    drops: tuple[Drop, ...] = ()
    evaluation: PairEvaluation | None = None


Found = StandingRow | tuple[StandingRow, Reason, str]
"""A row, with the reason why no task comes of it and what that leaves open."""

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
    found: list[Found] = []
    left: list[tuple[StandingFile, dict[Family, StandingRow]]] = []
    for file in standing_files(tools.repository, pair.new.rev, pair.language):
        wanted: dict[Family, StandingRow] = {}
        for family in families:
            row = _row(pair, tree, file, family)
            reason = file.reason or _before(tools.profile.files, tree, file, family)
            if reason is None:
                wanted[family] = row
            else:
                found.append((row, reason, ''))
        if wanted:
            left.append((file, wanted))
    evaluation = None
    if left:
        methods = {file.test_file: _methods_by_id(pair, file) for file, _ in left}
        selected = [_selected(*one) for file, _ in left for one in methods[file.test_file].items()]
        evaluation = observe(open_builder(), pair, selected, cache)
        if evaluation.new.runtime_lacking is not None:
            return Stood(evaluation=evaluation)
        revision = StandingRevision(tools=tools, pair=pair, evaluation=evaluation, tree=tree)
        for file, rows_of in left:
            found += _studied(revision, file, rows_of, methods[file.test_file])
    rows = [one if isinstance(one, StandingRow) else one[0] for one in found]
    drops = [
        Drop.at(Stage.STANDING, one[0], one[0].standing_id, one[1], one[2])
        for one in found
        if not isinstance(one, StandingRow)
    ]
    return Stood(rows=tuple(rows), drops=tuple(drops), evaluation=evaluation)


# -- before anything is run ------------------------------------------------------------------------


def _row(pair: Pair, tree: Tree, file: StandingFile, family: Family) -> StandingRow:
    whole = family is Family.FILE
    return StandingRow(
        standing_id=_standing_id(pair, file, family, None),
        repo=pair.repo,
        walk=pair.walk,
        pair_id=pair.pair_id,
        language=pair.language,
        new_rev=pair.new.rev,
        module=file.module,
        test_file=file.test_file,
        tests=len(file.methods),
        focus=tuple(_whole(tree, one) for one in file.modules or file.named)
        if whole
        else file.named,
        family=family,
    )


def _standing_id(
    pair: Pair, file: StandingFile, family: Family, builder: StartBuilder | None
) -> str:
    return short_hash(pair.pair_id, file.test_file, family, *((builder,) if builder else ()))


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


def _studied(
    revision: StandingRevision,
    file: StandingFile,
    wanted: Wanted,
    methods: Mapping[str, TestMethod],
) -> Iterator[Found]:
    """What each family makes of a file."""
    steady = steadiness(revision.evaluation, methods)
    passing = tuple(methods[one] for one in steady.passing)
    observed = None
    if steady.reason is None:
        observed = _observed(revision, file, Suite(module=file.module, methods=passing))
    for family, begun in wanted.items():
        row = replace(
            begun,
            passing=len(passing),
            unsteady=steady.unsteady,
            runs=steady.runs,
            override='+'.join(revision.evaluation.overrides) or None,
        )
        yield from _of_family(revision, family, row, steady, observed)


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
    yield from _started(family, row, observed)


def _of_focal_file(observed: ObservedSuite, row: StandingRow) -> tuple[Reason | None, str]:
    (focus,) = row.focus
    tree, rules = observed.revision.tree, observed.revision.tools.profile.files
    reason = file_selection.focal_reason(rules, focus.file, tree.content(focus.file))
    if reason is not None:
        return reason, ''
    lines = observed.together.lines.get(focus.file, ())
    return file_selection.coverage_reason(rules, tree.file(focus.file), lines)


def _started(family: Family, row: StandingRow, observed: ObservedSuite) -> Iterator[Found]:
    """The row of each start state that can be made of a file."""
    adequacy, mutants = observed.adequacy(row.focus, row.tests)
    gold = replace(row, adequacy=adequacy, mutants=mutants, reads_sources=observed.reads_sources)
    pair, entry = observed.revision.pair, observed.revision.tree.entries[row.test_file]
    for builder in STARTS[family]:
        own = _standing_id(pair, observed.file, family, builder)
        start = BUILDERS[builder](observed, gold)
        if isinstance(start, NoStart):
            empty = replace(
                row,
                standing_id=own,
                start_builder=builder,
                start_adequacy=start.adequacy,
                start_rev=start.rev,
            )
            yield empty, start.reason, start.detail
            continue
        yield replace(
            gold,
            standing_id=own,
            start_builder=builder,
            start_adequacy=start.adequacy,
            start_rev=start.rev,
            defect=start.defect,
            start_patch=file_patch(row.test_file, start.text, observed.text, entry.mode),
        )
