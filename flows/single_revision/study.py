"""Turn the test files of a revision into rows of `single_revision`.

They are run three times, traced and measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from coevo.engine.execution import evaluate_new_revision
from coevo.engine.groups import Cache
from coevo.engine.results import PairEvaluation, SelectedMethod
from coevo.languages.engine import Builder
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.measures.suites import PassingSuite
from coevo.model.families import UNIT_FAMILIES, Family, Focus, FocusKind
from coevo.model.listener import Listener
from coevo.model.profiles import FileRules
from coevo.model.reasons import Reason
from coevo.model.records import (
    Candidate,
    Drop,
    Pair,
    TestMethod,
    compute_method_id,
    compute_short_hash,
)
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import MethodChange, Stage
from flows.single_revision import selection
from flows.single_revision.found import (
    Found,
    PartCache,
    add_run_results,
    build_start_rows,
    make_unmeasured_row,
)
from flows.single_revision.observed_suite import ObservedRevision, ObservedSuite
from flows.single_revision.selection import (
    LEAST_SHARE,
    Steadiness,
    find_dominant_class,
    measure_steadiness,
)
from flows.single_revision.unit_study import study_units
from flows.study.context import Tools
from miners.single_revision import SingleRevisionFile, list_single_revision_files
from miners.units import CodeUnit, list_code_units


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionStudy:
    """The results for the test files of a revision; `evaluation` is None if none was run."""

    rows: tuple[SingleRevisionRow, ...] = ()
    drops: tuple[Drop, ...] = ()
    evaluation: PairEvaluation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyRequest:
    """The input of a study of a revision's test files.

    cache     of verdicts
    key       of the segment that will have the rows
    listener  gets the progress by file
    """

    tools: Tools
    families: Sequence[Family]
    cache: Cache
    key: str
    listener: Listener


def study_revision(
    asked: StudyRequest, pair: Pair, open_builder: Callable[[], Builder]
) -> RevisionStudy:
    """Run the test files of a pair's new revision, and return their rows and drops.

    If a runtime is missing, there are none. Raises: Transient for a failure of coevo.
    """
    inputs = select_inputs(asked.tools, pair, asked.families)
    if not inputs.files:
        untested = (replace(unit, reason=Reason.NOT_TESTED) for unit in inputs.live)
        return _build_study(pair, (*inputs.out, *untested), None)
    methods = {file.test_file: _index_methods(pair, file) for file, _ in inputs.files}
    selected = [
        _build_selected_method(*item) for of_file in methods.values() for item in of_file.items()
    ]
    evaluation = evaluate_new_revision(open_builder(), pair, selected, asked.cache)
    if evaluation.new.runtime_lacking is not None:
        return RevisionStudy(evaluation=evaluation)
    revision = ObservedRevision(
        tools=asked.tools, pair=pair, evaluation=evaluation, tree=inputs.tree
    )
    return _build_study(
        pair, (*inputs.out, *_study_parts(asked, revision, inputs, methods)), evaluation
    )


def _study_parts(
    asked: StudyRequest,
    revision: ObservedRevision,
    left: InputSelection,
    methods: Mapping[str, Mapping[str, TestMethod]],
) -> Iterator[Found | CodeUnit]:
    """Yield the rows of each file, then those of each unit.

    Only all files together show which tests are about a unit. Rows of files that an interrupted run
    finished are taken from the cache.
    """
    finished = PartCache(entries=asked.cache.entries, key=asked.key)
    observed: dict[str, tuple[ObservedSuite, Steadiness]] = {}
    for done, (file, wanted) in enumerate(left.files):
        asked.listener.step(f'test files of {revision.rev[:7]}', done, len(left.files))
        steady, suite = _observe_file(revision, file, methods[file.test_file])
        studied = partial(_build_rows_of_file, revision, wanted, steady, suite)
        yield from finished.load_or_make_rows(file.test_file, revision.evaluation.cost, studied)
        if suite is not None:
            observed[file.test_file] = suite, steady
    asked.listener.step(f'test files of {revision.rev[:7]}', len(left.files), len(left.files))
    if left.live:
        yield from study_units(revision, left.live, observed, finished)


def _build_study(
    pair: Pair, found: Sequence[Found | CodeUnit], evaluation: PairEvaluation | None
) -> RevisionStudy:
    rows = [result for result in found if not isinstance(result, CodeUnit)]
    lost = [result for result in found if isinstance(result, CodeUnit)]
    return RevisionStudy(
        rows=tuple(
            result if isinstance(result, SingleRevisionRow) else result[0] for result in rows
        ),
        drops=(*_list_drops(rows), *(_build_unit_drop(pair, unit) for unit in lost)),
        evaluation=evaluation,
    )


def _list_drops(found: Sequence[Found]) -> Iterator[Drop]:
    for result in found:
        if not isinstance(result, SingleRevisionRow):
            row, reason, detail = result
            yield Drop.make_drop_at_stage(Stage.SINGLE_REVISION, row, row.suite_id, reason, detail)


def _build_unit_drop(pair: Pair, unit: CodeUnit) -> Drop:
    """Return the drop of a unit that has no row, since no test file is about it."""
    assert unit.reason is not None, 'others have rows'
    key = compute_short_hash(pair.pair_id, unit.family, unit.name)
    detail = f'{unit.name} {unit.detail}'.rstrip()
    return Drop.make_drop_at_stage(Stage.SINGLE_REVISION, pair, key, unit.reason, detail)


def _index_methods(pair: Pair, file: SingleRevisionFile) -> dict[str, TestMethod]:
    return {
        compute_method_id(pair.pair_id, MethodChange.UNCHANGED, method): method
        for method in file.methods
    }


def _build_selected_method(method_id: str, method: TestMethod) -> SelectedMethod:
    candidate = Candidate(
        change=MethodChange.UNCHANGED, old=method, new=method, old_source=None, new_source=None
    )
    return SelectedMethod(method_id=method_id, candidate=candidate)


def _observe_file(
    revision: ObservedRevision, file: SingleRevisionFile, methods: Mapping[str, TestMethod]
) -> tuple[Steadiness, ObservedSuite | None]:
    """Return the results of a file's tests, and its traced suite.

    The suite is None if the file is no suite, or a test could not be traced.
    """
    steady = measure_steadiness(revision.evaluation, methods)
    if steady.reason is not None:
        return steady, None
    suite = PassingSuite(
        module=file.module, methods=tuple(methods[method_id] for method_id in steady.passing)
    )
    return steady, _trace_suite(revision, file, suite)


def _build_rows_of_file(
    revision: ObservedRevision, wanted: Wanted, steady: Steadiness, suite: ObservedSuite | None
) -> Iterator[Found]:
    """Yield the rows that each family makes of a file."""
    for family, row in wanted.items():
        own = add_run_results(revision, row, steady)
        yield from _build_family_rows(revision, family, own, steady, suite)


def _trace_suite(
    revision: ObservedRevision, file: SingleRevisionFile, suite: PassingSuite
) -> ObservedSuite | None:
    """Return the traced suite; None if the trace of any test is missing."""
    runner = revision.make_runner()
    traced = revision.trace_suite(suite, file.focal_files, runner)
    traces = tuple(trace for trace in traced.traces if trace is not None)
    if traced.together is None or len(traces) < len(suite.methods):
        return None
    return ObservedSuite(
        revision=revision, file=file, suite=suite, traces=traces, together=traced.together
    )


def _build_family_rows(
    revision: ObservedRevision,
    family: Family,
    row: SingleRevisionRow,
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
    about = find_dominant_class(
        row.focus, observed.list_executed_code(), 0.0 if whole else LEAST_SHARE
    )
    row = replace(row, focus=about.focus, focal_share=about.share)
    reason, detail = about.reason, about.detail
    if reason is None and whole:
        reason, detail = _find_focal_rejection(observed, row)
    if reason is not None:
        yield row, reason, detail
        return
    yield from build_start_rows(family, row, observed)


def _find_focal_rejection(
    observed: ObservedSuite, row: SingleRevisionRow
) -> tuple[Reason | None, str]:
    (focus,) = row.focus
    tree, rules = observed.revision.tree, observed.revision.tools.profile.files
    reason = selection.find_focal_file_rejection(rules, focus.file, tree.read_content(focus.file))
    if reason is not None:
        return reason, ''
    lines = observed.together.lines.get(focus.file, ())
    return selection.find_traced_focal_rejection(rules, tree.parse_file(focus.file), lines)


# The rest selects the input at a revision before anything is run: its test files, and the units of
# its code.

Wanted = Mapping[Family, SingleRevisionRow]
"""The families that may take a file, with the row with which each begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InputSelection:
    """The files and units to study, and those that are left out.

    files  with the families that may take each; if units are `live`, further files are run for them
    live   units that may have tests, which only a run can show
    out    rows of files, and units, that give no task
    """

    tree: RevisionTree
    files: Sequence[tuple[SingleRevisionFile, Wanted]]
    live: Sequence[CodeUnit]
    out: Sequence[Found | CodeUnit]


def select_inputs(tools: Tools, pair: Pair, families: Sequence[Family]) -> InputSelection:
    """Return which test files and units of a pair's new revision to study for some families.

    Files and units that the text already rules out are in `out`, with the reason.
    """
    tree = get_reading(pair.language).open_tree(tools.repository, pair.new.rev)
    units = list(list_code_units(tree, pair.language, families, tools.profile))
    live = [unit for unit in units if unit.reason is None]
    out: list[Found | CodeUnit] = [unit for unit in units if unit.reason is not None]
    files: list[tuple[SingleRevisionFile, Wanted]] = []
    for file in list_single_revision_files(tools.repository, pair.new.rev, pair.language):
        wanted: dict[Family, SingleRevisionRow] = {}
        for family in families:
            if family in UNIT_FAMILIES:
                continue
            row = make_unmeasured_row(pair, file, family, _determine_focus(tree, file, family))
            reason = file.reason or _find_early_rejection(tools.profile.files, tree, file, family)
            if reason is None:
                wanted[family] = row
            else:
                out.append((row, reason, ''))
        if wanted or (live and file.is_worth_running):
            files.append((file, wanted))
    return InputSelection(tree=tree, files=files, live=live, out=out)


def _determine_focus(
    tree: RevisionTree, file: SingleRevisionFile, family: Family
) -> tuple[Focus, ...]:
    if family is not Family.FILE:
        return file.named
    return tuple(_widen_to_file(tree, focus) for focus in file.modules or file.named)


def _widen_to_file(tree: RevisionTree, one: Focus) -> Focus:
    """Return a focus that is the whole file of the given class."""
    last = max(1, selection.count_lines(tree.read_content(one.file)))
    return replace(one, kind=FocusKind.FILE, start_line=1, end_line=last)


def _find_early_rejection(
    rules: FileRules, tree: RevisionTree, file: SingleRevisionFile, family: Family
) -> Reason | None:
    """Return why a file is not taken before it is run.

    A file that may be about several focal files is rejected only if all of them are.
    """
    if family is not Family.FILE:
        return None if file.named else Reason.NO_TEST_CLASS
    reason = selection.find_test_file_rejection(
        rules, tree.read_content(file.test_file), len(file.methods)
    )
    if reason is not None:
        return reason
    reasons = [
        selection.find_focal_file_rejection(rules, focus.file, tree.read_content(focus.file))
        for focus in file.modules or file.named
    ]
    return reasons[0] if None not in reasons else None
