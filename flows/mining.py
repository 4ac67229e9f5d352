"""One pair from diff to segment: diff, sieve, execute, decide."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Collection
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.engine.cache import Cache
from coevo.engine.evidence import decide
from coevo.engine.execution import NO_CACHE
from coevo.engine.execution import evaluate
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.git.repository import CorruptObject
from coevo.git.repository import Repository
from coevo.languages.engine import Builder
from coevo.languages.table import LANGUAGES
from coevo.languages.table import engine_version
from coevo.model.drops import Drop
from coevo.model.families import Family
from coevo.model.identity import method_id
from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.model.pair_rows import EnvironmentRow
from coevo.model.profiles import Profile
from coevo.model.reasons import Reason
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from coevo.model.segment import Segment
from coevo.model.words import Stage
from coevo.model.words import Walk
from filters import sieve
from flows.compilable_states import CompilableStates
from flows.rows import DecidedMethod
from flows.rows import cell_rows
from flows.rows import method_row
from flows.rows import pair_row
from flows.rows import with_sources
from flows.standing.selection import STANDING_VERSION
from flows.standing.study import Asked
from flows.standing.study import stand
from flows.study import PairContext
from flows.study import Study
from flows.study import Tools
from flows.study import study
from flows.timings import DIFF
from flows.timings import StageClock
from miners.diffs.changes import PairChange
from miners.diffs.changes import diff
from miners.walks.windows import shown_nearer


@dataclass(frozen=True, slots=True, kw_only=True)
class MiningRun:
    """What is the same for all pairs of a run.

    again     how often some were asked for once more
    families  that look at the test files of the walk `standing`, in their order
    listener  hears what takes long in a single pair
    """

    sandbox: str
    tools: Tools
    cache: Cache = NO_CACHE
    compilable: CompilableStates = field(default_factory=CompilableStates)
    again: Mapping[str, int] = field(default_factory=dict)
    families: tuple[Family, ...] = ()
    listener: Listener = SILENT

    def cache_of(self, pair: Pair) -> Cache:
        """Of verdicts; none for a pair that is to be executed once more."""
        return NO_CACHE if pair.pair_id in self.again else self.cache

    @property
    def repository(self) -> Repository:
        return self.tools.repository

    @property
    def profile(self) -> Profile:
        return self.tools.profile


def lacked(repository: Repository, pair: Pair) -> tuple[str, ...]:
    """The files of both ends that the clone lacks since its source does; ids in order."""
    if not repository.holes:
        return ()
    try:
        trees = [repository.tree(commit.rev) for commit in (pair.old, pair.new)]
    except CorruptObject as error:
        return (error.name,) if error.name in repository.holes else ()
    named = {entry.oid for tree in trees for entry in tree.values()}
    return tuple(sorted(named & repository.holes))


def segment_key(run: MiningRun, pair: Pair) -> str:
    """A segment is reused while its inputs and the version of its language's engine are the same."""
    return short_hash(
        pair.pair_id,
        pair.walk,
        run.profile.fingerprint,
        run.sandbox,
        str(engine_version(pair.language)),
        *((str(STANDING_VERSION), *run.families) if pair.walk is Walk.STANDING else ()),
        *pair.between,
        *lacked(run.repository, pair),
        *([f'again {run.again[pair.pair_id]}'] if pair.pair_id in run.again else []),
    )


def mine_pair(run: MiningRun, pair: Pair, open_builder: Callable[[], Builder]) -> Segment:
    """All that one pair gives. The builder is opened only if something is to be run."""
    absent = lacked(run.repository, pair)
    if absent:
        detail = f'{len(absent)} files, the first is {absent[0]}'
        return _nothing(run, pair, Reason.OBJECT_MISSING, detail)
    try:
        if pair.walk is Walk.STANDING:
            return _mine_standing(run, pair, open_builder)
        return _mine_pair(run, pair, open_builder)
    except CorruptObject as error:
        return _nothing(run, pair, Reason.UNREADABLE_OBJECT, str(error))


def _mine_pair(run: MiningRun, pair: Pair, open_builder: Callable[[], Builder]) -> Segment:
    clock = StageClock()
    change = diff(run.repository, pair)
    nearer = _nearer(run, change, open_builder) if pair.between else None
    kept, drops = sieve(change, run.profile, nearer)
    selected = [SelectedMethod(method_id=method_id(pair, item), candidate=item) for item in kept]
    clock.lap(DIFF, 1)
    evaluation = None
    if selected:
        all_cells = run.profile.all_cells
        evaluation = evaluate(
            open_builder(), pair, selected, run.cache_of(pair), all_cells=all_cells
        )
        if evaluation.old.runtime_lacking is not None:
            return _without_runtime(run, evaluation, pair, evaluation.old.runtime_lacking)
    studied = Study()
    if evaluation is not None:
        context = PairContext(tools=run.tools, change=change, evaluation=evaluation)
        studied = study(context, list(_judge(selected, evaluation, change)))
    decided = studied.decided
    tracked = [item for item in decided if item.decision.track is not None]
    row = pair_row(change, evaluation, candidates=len(kept) + _sieved(drops), sandbox=run.sandbox)
    if evaluation is not None:
        row = with_sources(row, run.repository, change)
    return Segment(
        key=segment_key(run, pair),
        pair=replace(
            row,
            refactorings=studied.pair.refactorings,
            suite_old=studied.pair.suite_old,
            suite_new=studied.pair.suite_new,
        ),
        methods=tuple(
            method_row(
                pair, item, evaluation, run.sandbox, studied.methods[item.selected.method_id]
            )
            for item in decided
            if evaluation is not None and item.decision.reason is None
        ),
        cells=tuple(cell_rows(pair, selected, evaluation)) if evaluation else (),
        drops=(*drops, *_drops(pair, decided)),
        environments=tuple(_environments(pair, _modules(tracked), evaluation))
        if evaluation
        else (),
        timings=tuple(clock.rows(pair, evaluation)),
        refactorings=studied.refactorings,
        executed=studied.executed,
        mutants=studied.mutants,
        reversals=studied.reversals,
        starts=studied.starts,
    )


def _mine_standing(run: MiningRun, pair: Pair, open_builder: Callable[[], Builder]) -> Segment:
    """The test files of a revision; nothing of it is a change of a method."""
    clock = StageClock()
    asked = Asked(
        tools=run.tools,
        families=run.families,
        cache=run.cache_of(pair),
        key=segment_key(run, pair),
        listener=run.listener,
    )
    stood = stand(asked, pair, open_builder)
    evaluation = stood.evaluation
    if evaluation is not None and evaluation.new.runtime_lacking is not None:
        return _without_runtime(run, evaluation, pair, evaluation.new.runtime_lacking)
    modules = {row.module for row in stood.rows if row.adequacy is not None}
    return Segment(
        key=segment_key(run, pair),
        pair=pair_row(_no_change(pair), evaluation, candidates=0, sandbox=run.sandbox),
        methods=(),
        cells=(),
        drops=stood.drops,
        environments=tuple(_environments(pair, modules, evaluation)) if evaluation else (),
        timings=tuple(clock.rows(pair, evaluation)),
        standing=stood.rows,
    )


def _nearer(
    run: MiningRun, change: PairChange, open_builder: Callable[[], Builder]
) -> frozenset[TestMethod]:
    compiles = run.compilable.question(run.repository, change.pair, open_builder)
    return shown_nearer(run.repository, change, compiles)


def _without_runtime(
    run: MiningRun, evaluation: PairEvaluation, pair: Pair, release: str
) -> Segment:
    """A pair that another runtime might have built; under a key that counts while that is not here."""
    detail = f'{LANGUAGES[pair.language].RUNTIME.lower()} {release}'
    found = _nothing(run, pair, Reason.RUNTIME_MISSING, detail, evaluation)
    return replace(found, key=key_without(segment_key(run, pair), release))


def key_without(key: str, release: str) -> str:
    """The key of a pair that was dropped for want of a runtime."""
    return short_hash(key, Reason.RUNTIME_MISSING, release)


def _nothing(
    run: MiningRun,
    pair: Pair,
    reason: Reason,
    detail: str,
    evaluation: PairEvaluation | None = None,
) -> Segment:
    """A pair that gives nothing, for want of a file or of what would build it: the walk goes on."""
    change = _no_change(pair)
    return Segment(
        key=segment_key(run, pair),
        pair=pair_row(change, evaluation, candidates=0, sandbox=run.sandbox),
        methods=(),
        cells=(),
        drops=(Drop.at(Stage.PAIR, pair, pair.pair_id, reason, detail),),
        environments=(),
        timings=(),
    )


def _no_change(pair: Pair) -> PairChange:
    return PairChange(
        pair=pair,
        build_changed=False,
        source_changed=False,
        tests_changed=False,
        candidates=(),
        reason=None,
    )


def _sieved(drops: Sequence[Drop]) -> int:
    return sum(item.stage is Stage.SIEVE for item in drops)


def _judge(
    selected: Sequence[SelectedMethod], evaluation: PairEvaluation, change: PairChange
) -> Iterator[DecidedMethod]:
    for item in selected:
        decision = decide(
            item.candidate, item.method_id, evaluation, build_changed=change.build_changed
        )
        yield DecidedMethod(selected=item, decision=decision)


def _drops(pair: Pair, decided: Sequence[DecidedMethod]) -> Iterator[Drop]:
    for item in decided:
        key, decision = item.selected.method_id, item.decision
        candidate = item.selected.candidate
        if decision.reason is not None:
            drop = Drop.at(Stage.LABEL, pair, key, decision.reason, decision.detail)
            yield drop.of(candidate.method, candidate.change)
        elif decision.no_track is not None:
            drop = Drop.at(Stage.TRACK, pair, key, decision.no_track)
            yield drop.of(candidate.method, candidate.change)


def _modules(tracked: Sequence[DecidedMethod]) -> set[str]:
    return {item.selected.candidate.method.module for item in tracked}


def _environments(
    pair: Pair, modules: Collection[str], evaluation: PairEvaluation
) -> Iterator[EnvironmentRow]:
    for module in sorted(modules):
        environment = evaluation.built.environment(pair.new.rev, module)
        if environment is not None:
            yield EnvironmentRow(pair_id=pair.pair_id, module=module, environment=environment)
