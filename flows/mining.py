"""Mine one pair from diff to segment: diff, filter, execute, decide."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.engine.evidence import decide_candidate
from coevo.engine.execution import NO_CACHE, evaluate_pair
from coevo.engine.groups import Cache
from coevo.engine.results import PairEvaluation, SelectedMethod
from coevo.engine.suites import UmpireReport, run_project_for_dropped_methods
from coevo.git.repository import CorruptObject, Repository
from coevo.languages.cells import Build
from coevo.languages.engine import Builder, BuiltPair
from coevo.languages.reading import ProductionKind
from coevo.languages.table import LANGUAGES
from coevo.model.families import Family
from coevo.model.listener import SILENT, Listener
from coevo.model.pair_rows import EnvironmentRow, PairRow
from coevo.model.profiles import Profile
from coevo.model.quality import PairEnd
from coevo.model.reasons import Reason
from coevo.model.records import Drop, Pair, TestMethod, compute_candidate_id, compute_short_hash
from coevo.model.segment import Segment
from coevo.model.words import BreakageCause, Stage, Walk
from coevo.storage.documents import SegmentBasis
from filters import filter_candidates
from flows.budgets import DIFF, StageClock
from flows.rows import (
    DecidedMethod,
    add_source_measures,
    build_cell_rows,
    build_pair_row,
)
from flows.single_revision.study import StudyRequest, study_revision
from flows.study import PairContext, Study, Tools, study_pair
from miners.diffs.changes import PairChange, diff_pair
from miners.walks.states import find_tests_changed_in_between

# The first part decides which states of a window can be the old end of a task: those whose own
# tests compile. A nearer state that does not compile is no reason to drop a change that a farther
# one shows.


@dataclass(frozen=True, slots=True)
class CompilableStates:
    """Remembers which states compile; each module of a revision is checked once in a run."""

    _known: dict[tuple[str, str], bool] = field(default_factory=dict)

    def build_test_compile_check(
        self, repository: Repository, pair: Pair, open_builder: Callable[[], Builder]
    ) -> Callable[[str, str], bool]:
        """Return a function that says whether the own tests of a module compile at a revision.

        It is meant for states between the ends of a pair, and builds each as the old end of a pair
        with the same new end. Answers are remembered.
        """

        def compiles(rev: str, module: str) -> bool:
            """Return whether the own tests of a revision's module compile."""
            if (rev, module) not in self._known:
                nearer = replace(pair, old=repository.get_commit(rev), between=())
                self._known[rev, module] = _do_old_tests_compile(open_builder(), nearer, module)
            return self._known[rev, module]

        return compiles


def _do_old_tests_compile(builder: Builder, pair: Pair, module: str) -> bool:
    built = builder.build(pair)
    if built.old.find_trouble(module) is not None:
        return False
    return built.compile(pair.old.rev, pair.old.rev, module).unit_ok


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningRun:
    """The settings that all pairs of a run share.

    again     how often some pairs were requested once more, by pair id
    most_tests  pairs with more tests to run are not mined; None for no limit
    families  families of the walk `single_revision`, in their order
    listener  gets the progress of steps that take long in a single pair
    """

    sandbox: str
    basis: SegmentBasis
    tools: Tools
    cache: Cache = NO_CACHE
    compilable: CompilableStates = field(default_factory=CompilableStates)
    again: Mapping[str, int] = field(default_factory=dict)
    most_tests: int | None = None
    families: tuple[Family, ...] = ()
    listener: Listener = SILENT

    def choose_cache(self, pair: Pair) -> Cache:
        """Return the cache of verdicts for a pair; an empty one if the pair is to be run again."""
        return NO_CACHE if pair.pair_id in self.again else self.cache

    @property
    def repository(self) -> Repository:
        """The repository of the run."""
        return self.tools.repository

    @property
    def profile(self) -> Profile:
        """The profile of the run."""
        return self.tools.profile


def list_missing_objects(repository: Repository, pair: Pair) -> tuple[str, ...]:
    """Return the sorted ids of the blobs of both ends that neither the clone nor its source has."""
    try:
        return tuple(
            sorted(
                {
                    repository.tree(commit.rev)[path].oid
                    for commit in (pair.old, pair.new)
                    for path in repository.list_absent_files(commit.rev)
                }
            )
        )
    except CorruptObject as error:
        return (error.name,) if error.name in repository.object_ids_absent_at_source else ()


def list_absent_files(repository: Repository, pair: Pair) -> tuple[str, ...]:
    """Return the sorted paths of the files, at either end, whose content the clone lacks."""
    ends = (pair.old, pair.new)
    return tuple(sorted({p for end in ends for p in repository.list_absent_files(end.rev)}))


def compute_segment_key(run: MiningRun, pair: Pair) -> str:
    """Return the key under which a pair's segment is stored.

    It changes with the inputs, the code and the tools, so that the pair is mined again. Pairs that
    are requested again get a new key, too.
    """
    return compute_short_hash(
        pair.pair_id,
        pair.walk,
        run.basis.basis_id,
        run.sandbox,
        *(_list_single_revision_settings(run) if pair.walk is Walk.SINGLE_REVISION else ()),
        *pair.between,
        *list_missing_objects(run.repository, pair),
        *([f'again {run.again[pair.pair_id]}'] if pair.pair_id in run.again else []),
    )


def _list_single_revision_settings(run: MiningRun) -> tuple[str, ...]:
    """Return what only segments of test files depend on, which are measured while they are mined."""
    return (*run.families, f'{run.profile.measure_runs} runs')


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedPair:
    """The segment of a pair, and the builds by which its cells ran; None if nothing was run."""

    segment: Segment
    built: BuiltPair | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeferredPair:
    """A pair that is not mined now, since it has more tests to run than the run allows."""

    tests: int


def mine_pair(
    run: MiningRun, pair: Pair, open_builder: Callable[[], Builder]
) -> MinedPair | DeferredPair:
    """Mine one pair and return its segment; the builder is opened only if something must run.

    A pair whose objects are missing or unreadable gives a segment with a single drop.
    """
    absent = list_missing_objects(run.repository, pair)
    if absent and pair.walk is Walk.SINGLE_REVISION:
        detail = f'{len(absent)} files, the first is {absent[0]}'
        return MinedPair(segment=_build_empty_segment(run, pair, Reason.OBJECT_MISSING, detail))
    try:
        if pair.walk is Walk.SINGLE_REVISION:
            return MinedPair(segment=_mine_single_revision(run, pair, open_builder))
        return _mine_changes(run, pair, open_builder)
    except CorruptObject as error:
        if error.name in run.repository.object_ids_absent_at_source:
            detail = f'{len(absent)} files, of which {error.name} or another is needed'
            segment = _build_empty_segment(run, pair, Reason.OBJECT_MISSING, detail)
        else:
            segment = _build_empty_segment(run, pair, Reason.UNREADABLE_OBJECT, str(error))
        return MinedPair(segment=segment)


def _mine_changes(
    run: MiningRun, pair: Pair, open_builder: Callable[[], Builder]
) -> MinedPair | DeferredPair:
    clock = StageClock()
    change = diff_pair(run.repository, pair, run.profile.gate)
    nearer = _find_tests_of_nearer_states(run, change, open_builder) if pair.between else None
    kept_candidates, drops = filter_candidates(change, run.profile, nearer)
    if run.most_tests is not None and len(kept_candidates) > run.most_tests:
        return DeferredPair(tests=len(kept_candidates))
    selected = [
        SelectedMethod(method_id=compute_candidate_id(pair, item), candidate=item)
        for item in kept_candidates
    ]
    clock.record_lap(DIFF, 1)
    evaluation, studied, ruled = None, Study(), UmpireReport()
    if selected:
        all_cells = run.profile.all_cells
        evaluation = evaluate_pair(
            open_builder(), pair, selected, run.choose_cache(pair), all_cells=all_cells
        )
        if evaluation.old.runtime_lacking is not None:
            lacking = evaluation.old.runtime_lacking
            return MinedPair(segment=_build_missing_runtime_segment(run, evaluation, pair, lacking))
        _refuse_builds_without_objects(run.repository, evaluation, selected)
        studied, ruled = _study_methods(run, change, evaluation)
    change = _mark_source_changed_if_broken(change, studied.decided)
    candidates = len(kept_candidates) + _count_filter_drops(drops)
    segment = Segment(
        key=compute_segment_key(run, pair),
        pair=_build_studied_row(run, change, evaluation, candidates, studied, ruled),
        methods=tuple(studied.methods.values()),
        cells=tuple(build_cell_rows(pair, evaluation.selected, evaluation)) if evaluation else (),
        drops=(*drops, *_list_drops(pair, studied.decided)),
        environments=tuple(
            _build_environment_rows(pair, _collect_task_modules(studied.decided), evaluation)
        )
        if evaluation
        else (),
        timings=tuple(clock.build_rows(pair, evaluation)),
        refactorings=studied.refactorings,
        executed=studied.executed,
        starts=studied.starts,
    )
    return MinedPair(segment=segment, built=evaluation.built if evaluation else None)


def _study_methods(
    run: MiningRun, change: PairChange, evaluation: PairEvaluation
) -> tuple[Study, UmpireReport]:
    """Decide on the methods that were run, ask the project's own command, and study the labelled."""
    judged = list(_decide_methods(evaluation.selected, evaluation, change))
    ruled = run_project_for_dropped_methods(
        run.tools.list_tests, evaluation, [(item.selected, item.decision) for item in judged]
    )
    judged = [
        replace(item, decision=ruled.decisions.get(item.selected.method_id, item.decision))
        for item in judged
    ]
    context = PairContext(tools=run.tools, change=change, evaluation=evaluation)
    return study_pair(context, judged, run.sandbox), ruled


def _build_studied_row(
    run: MiningRun,
    change: PairChange,
    evaluation: PairEvaluation | None,
    candidates: int,
    studied: Study,
    ruled: UmpireReport,
) -> PairRow:
    row = build_pair_row(
        change,
        evaluation,
        candidates=candidates,
        sandbox=run.sandbox,
        basis=run.basis,
        absent_files=list_absent_files(run.repository, change.pair),
    )
    if evaluation is not None:
        row = add_source_measures(row, run.repository, change)
    return replace(
        row,
        refactorings=studied.refactoring_status,
        suite_old=studied.suite_old,
        suite_new=studied.suite_new,
        umpire_old=ruled.statuses.get(PairEnd.OLD),
        umpire_new=ruled.statuses.get(PairEnd.NEW),
    )


def _mark_source_changed_if_broken(
    change: PairChange, decided: Sequence[DecidedMethod]
) -> PairChange:
    """Return the change, marked as a change of production if the new code broke a test.

    A test may read files of the repository that no rule calls production. Otherwise the change is
    returned as it is.
    """
    causes = {item.decision.cause for item in decided}
    if change.source_changed or BreakageCause.PRODUCTION not in causes:
        return change
    return replace(change, source_changed=True, kinds=(ProductionKind.OTHER,))


def _refuse_builds_without_objects(
    repository: Repository, evaluation: PairEvaluation, selected: Sequence[SelectedMethod]
) -> None:
    """Raise CorruptObject if a needed module failed to build because the clone lacks files.

    Needed are the modules of the selected methods. The error names one of the missing objects.
    """
    for end in (evaluation.old, evaluation.new):
        for module in sorted({item.candidate.method.module for item in selected}):
            if end.find_trouble(module) == Reason.OBJECT_MISSING:
                path = repository.list_absent_files(end.rev)[0]
                raise CorruptObject(repository.tree(end.rev)[path].oid)


def _mine_single_revision(
    run: MiningRun, pair: Pair, open_builder: Callable[[], Builder]
) -> Segment:
    """Return the segment of a pair of the walk `single_revision`: test files, and no methods."""
    clock = StageClock()
    request = StudyRequest(
        tools=run.tools,
        families=run.families,
        cache=run.choose_cache(pair),
        key=compute_segment_key(run, pair),
        listener=run.listener,
    )
    stood = study_revision(request, pair, open_builder)
    evaluation = stood.evaluation
    if evaluation is not None and evaluation.new.runtime_lacking is not None:
        return _build_missing_runtime_segment(run, evaluation, pair, evaluation.new.runtime_lacking)
    modules = {row.module for row in stood.rows if row.adequacy is not None}
    return Segment(
        key=compute_segment_key(run, pair),
        pair=build_pair_row(
            _build_empty_change(pair),
            evaluation,
            candidates=0,
            sandbox=run.sandbox,
            basis=run.basis,
        ),
        methods=(),
        cells=(),
        drops=stood.drops,
        environments=tuple(_build_environment_rows(pair, modules, evaluation))
        if evaluation
        else (),
        timings=tuple(clock.build_rows(pair, evaluation)),
        single_revision=stood.rows,
    )


def _find_tests_of_nearer_states(
    run: MiningRun, change: PairChange, open_builder: Callable[[], Builder]
) -> frozenset[TestMethod]:
    compiles = run.compilable.build_test_compile_check(run.repository, change.pair, open_builder)
    return find_tests_changed_in_between(run.repository, change, compiles)


def _build_missing_runtime_segment(
    run: MiningRun, evaluation: PairEvaluation, pair: Pair, release: str
) -> Segment:
    """Return a segment with the drop `runtime_missing`.

    Its key is not that of the pair, so that the pair is mined once the runtime is there. Its detail
    says why the revisions are not built with the runtime that is here.
    """
    detail = describe_missing_runtime(
        LANGUAGES[pair.language].RUNTIME, release, (evaluation.old, evaluation.new)
    )
    segment = _build_empty_segment(run, pair, Reason.RUNTIME_MISSING, detail, evaluation)
    return replace(
        segment, key=compute_missing_runtime_key(compute_segment_key(run, pair), release)
    )


def describe_missing_runtime(runtime: str, release: str, ends: Sequence[Build]) -> str:
    """Return the missing release, and why the first end that is not built was not built without it.

    An end that no runtime of this machine was tried for has no such reason.
    """
    detail = f'{runtime.lower()} {release}'
    build = next(
        (end for end in ends if end.runtime and end.built_or_first_failure != 'built'), None
    )
    return f'{detail}; with {build.runtime}: {build.built_or_first_failure}' if build else detail


def compute_missing_runtime_key(key: str, release: str) -> str:
    """Return the key of a segment whose pair was dropped because this runtime release was missing.

    key  the key that the segment would have otherwise
    """
    return compute_short_hash(key, Reason.RUNTIME_MISSING, release)


def _build_empty_segment(
    run: MiningRun,
    pair: Pair,
    reason: Reason,
    detail: str,
    evaluation: PairEvaluation | None = None,
) -> Segment:
    """Return a segment that has only the drop of its pair, for this reason."""
    change = _build_empty_change(pair)
    return Segment(
        key=compute_segment_key(run, pair),
        pair=build_pair_row(change, evaluation, candidates=0, sandbox=run.sandbox, basis=run.basis),
        methods=(),
        cells=(),
        drops=(Drop.make_drop_at_stage(Stage.PAIR, pair, pair.pair_id, reason, detail),),
        environments=(),
        timings=(),
    )


def _build_empty_change(pair: Pair) -> PairChange:
    return PairChange(
        pair=pair,
        build_changed=False,
        source_changed=False,
        tests_changed=False,
        candidates=(),
        reason=None,
    )


def _count_filter_drops(drops: Sequence[Drop]) -> int:
    return sum(item.stage is Stage.FILTER for item in drops)


def _decide_methods(
    selected: Sequence[SelectedMethod], evaluation: PairEvaluation, change: PairChange
) -> Iterator[DecidedMethod]:
    for item in selected:
        decision = decide_candidate(
            item.candidate, item.method_id, evaluation, build_changed=change.build_changed
        )
        yield DecidedMethod(selected=item, decision=decision)


def _list_drops(pair: Pair, decided: Sequence[DecidedMethod]) -> Iterator[Drop]:
    for item in decided:
        key, decision = item.selected.method_id, item.decision
        candidate = item.selected.candidate
        if decision.reason is not None:
            drop = Drop.make_drop_at_stage(Stage.LABEL, pair, key, decision.reason, decision.detail)
            yield drop.with_method(candidate.method, candidate.change)
        elif decision.no_track is not None:
            drop = Drop.make_drop_at_stage(Stage.TRACK, pair, key, decision.no_track)
            yield drop.with_method(candidate.method, candidate.change)


def _collect_task_modules(decided: Sequence[DecidedMethod]) -> set[str]:
    """Return the modules of the methods with a track."""
    tracked = (item for item in decided if item.decision.track is not None)
    return {item.selected.candidate.method.module for item in tracked}


def _build_environment_rows(
    pair: Pair, modules: Collection[str], evaluation: PairEvaluation
) -> Iterator[EnvironmentRow]:
    for module in sorted(modules):
        environment = evaluation.built.describe_environment(pair.new.rev, module)
        if environment is not None:
            yield EnvironmentRow(pair_id=pair.pair_id, module=module, environment=environment)
