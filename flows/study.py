"""What is found out about a pair's labelled methods beside their cells, while its builds are at hand.

trace         what each executes, hence its changed dependencies and what it covers of them
texts         smells and assertions
suspicions    for those that would have a track: refactorings, guards of repairs, suites
tracks        filters take some of them away
measures      for those that keep theirs: mutants, and each changed method undone
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace
from typing import Any

from coevo.git import Repository
from coevo.isolation import isolate
from coevo.languages.base import Conditions
from coevo.languages.base import Workshop
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from coevo.measures.coverage import coverage_of
from coevo.measures.mutants import measure_mutants
from coevo.measures.reversals import measure_reversals
from coevo.profiles import Profile
from coevo.quality import End
from coevo.quality import ExecutedRow
from coevo.quality import MutantRow
from coevo.quality import RefactoringRow
from coevo.quality import ReversalRow
from coevo.records import Cell
from coevo.records import Label
from coevo.records import Pair
from coevo.records import Track
from coevo.repairs import guard_repairs
from coevo.repairs import repair_kind
from coevo.results import Evaluation
from coevo.results import Step
from coevo.results import Wanted
from coevo.suites import Suites
from coevo.swapped import Subject
from coevo.tracing import OWN_CELL
from coevo.tracing import Traces
from coevo.tracing import trace_cells
from filters.base import TrackCase
from flows.refactoring import refactoring_rows
from flows.refactoring import summary
from flows.rows import Judged
from flows.texts import refinement_kinds
from flows.texts import text_columns
from flows.tracks import withheld
from miners import delta as deltas
from miners.changes import PairChange
from miners.delta import Delta
from miners.only_refactored import source_only_refactored
from miners.only_refactored import test_only_refactored
from miners.refactorings import RefactoringMiner
from miners.refactorings import Refactorings
from miners.resources import resource_dependencies
from miners.siblings import siblings
from miners.trees import tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a run lends to the study of each of its pairs.

    refactoring_miner  that of the calling thread
    """

    repository: Repository
    profile: Profile
    suites: Suites
    refactoring_miner: Callable[[], RefactoringMiner]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """A pair under study. What it costs is added to the evaluation's cost."""

    tools: Tools
    workshop: Workshop
    change: PairChange
    evaluation: Evaluation

    @property
    def pair(self) -> Pair:
        return self.change.pair


@dataclass(slots=True, kw_only=True)
class Study:
    """What was found: columns of method rows by method id, columns of the pair's row, and rows."""

    judged: tuple[Judged, ...] = ()
    columns: dict[str, dict[str, Any]] = field(default_factory=dict)
    pair: dict[str, Any] = field(default_factory=dict)
    executed: tuple[ExecutedRow, ...] = ()
    refactorings: tuple[RefactoringRow, ...] = ()
    mutants: tuple[MutantRow, ...] = ()
    reversals: tuple[ReversalRow, ...] = ()

    def add(self, name: str, values: Mapping[str, Any]) -> None:
        """A column, for the methods that have a value in it."""
        for method_id, value in values.items():
            self.columns[method_id][name] = value


def study(scene: Scene, judged: Sequence[Judged]) -> Study:
    """Study the judged methods of a pair; those that lose their track say why."""
    labelled = [item for item in judged if item.decision.reason is None]
    found = Study(columns={item.wanted.method_id: {} for item in labelled})
    changed = _trace(scene, labelled, found)
    for item in labelled:
        found.columns[item.wanted.method_id] |= text_columns(
            scene.tools.repository, scene.pair, item.wanted.candidate
        )
    _suspect(scene, [item for item in labelled if item.decision.track], changed, found)
    found.judged = tuple(withheld(judged, _cases(scene, labelled, found)))
    _measure(scene, changed, found)
    return found


# -- what they execute -----------------------------------------------------------------------------


def _trace(scene: Scene, labelled: Sequence[Judged], found: Study) -> dict[str, Delta]:
    """Fill the columns that traces give; the changed dependencies by method id."""
    traces = trace_cells(
        scene.workshop, scene.evaluation, _to_trace(labelled), _files(scene.change)
    )
    changed = {}
    for item in labelled:
        method_id = item.wanted.method_id
        delta = _delta(scene, item.wanted, traces)
        changed[method_id] = delta
        found.columns[method_id] |= {
            'dependencies': delta.dependencies,
            'focal_method': delta.focal_method,
            'dependency_source': delta.source,
            **_coverage(item, delta, traces),
        }
    found.executed = tuple(_executed(scene.pair, changed, traces))
    return changed


def _to_trace(labelled: Sequence[Judged]) -> dict[Cell, list[Wanted]]:
    """Each on its own code, old tests of refinements also on the new code."""
    everything = [item.wanted for item in labelled]
    refined = [item.wanted for item in labelled if item.decision.label is Label.REFINEMENT]
    return {Cell.TOLD_COLD: everything, Cell.TNEW_CNEW: everything, Cell.TOLD_CNEW: refined}


def _files(change: PairChange) -> dict[End, frozenset[str]]:
    """The files of the changed declarations at either end."""
    return {
        End.OLD: frozenset(one.old.path for one in change.sources if one.old is not None),
        End.NEW: frozenset(one.new.path for one in change.sources if one.new is not None),
    }


def _delta(scene: Scene, item: Wanted, traces: Traces) -> Delta:
    """The changed declarations, then the changed resources."""
    own = deltas.Traces(
        old=traces.get((item.method_id, Cell.TOLD_COLD)),
        new=traces.get((item.method_id, Cell.TNEW_CNEW)),
    )
    change = scene.change
    references = change.references.get(item.method_id, ())
    found = deltas.delta(item.candidate.method, change.sources, references, own)
    ends = (
        (tree(scene.tools.repository, scene.pair.old.rev), own.old),
        (tree(scene.tools.repository, scene.pair.new.rev), own.new),
    )
    resources = resource_dependencies(change.files, ends, len(found.dependencies) + 1)
    return replace(found, dependencies=(*found.dependencies, *resources))


def _coverage(item: Judged, delta: Delta, traces: Traces) -> dict[str, Any]:
    new, old = (
        coverage_of(delta.dependencies, trace) if trace else None
        for trace in (
            traces.get((item.wanted.method_id, cell)) for cell in (Cell.TNEW_CNEW, Cell.TOLD_CNEW)
        )
    )
    kinds = refinement_kinds(item.decision.label, item.wanted.candidate, old, new)
    return {'coverage': new, 'kinds': kinds}


def _executed(pair: Pair, changed: Mapping[str, Delta], traces: Traces) -> Iterator[ExecutedRow]:
    for method_id in changed:
        for end, cell in OWN_CELL.items():
            trace = traces.get((method_id, cell))
            for one in trace.executed if trace else ():
                yield ExecutedRow(
                    repo=pair.repo,
                    walk=pair.walk,
                    pair_id=pair.pair_id,
                    method_id=method_id,
                    end=end,
                    type=one.type,
                    method=one.method,
                    descriptor=one.descriptor,
                    file=one.file,
                    first_line=one.first_line,
                    last_line=one.last_line,
                )


# -- what speaks against a track -------------------------------------------------------------------


def _suspect(
    scene: Scene, tracked: Sequence[Judged], changed: Mapping[str, Delta], found: Study
) -> None:
    if not tracked:
        return
    _isolate(scene, tracked, found)
    _ask_refactorings(scene, tracked, changed, found)
    _ask_guards(scene, tracked, found)
    _ask_suites(scene, found)


def _isolate(scene: Scene, tracked: Sequence[Judged], found: Study) -> None:
    subjects = [
        Subject(wanted=item.wanted, track=item.decision.track)
        for item in tracked
        if item.decision.track is not None
    ]
    conditions = Conditions(override=scene.evaluation.override)
    isolation = isolate(scene.workshop, scene.pair, subjects, scene.tools.repository, conditions)
    scene.evaluation.cost.add(Step.ISOLATION, isolation.cpu_seconds)
    found.add('isolated', isolation.methods)


def _ask_refactorings(
    scene: Scene, tracked: Sequence[Judged], changed: Mapping[str, Delta], found: Study
) -> None:
    if not scene.tools.profile.refactorings:
        return
    pair, repository = scene.pair, scene.tools.repository
    refactorings = scene.tools.refactoring_miner().find(repository, pair.old.rev, pair.new.rev)
    scene.evaluation.cost.add(Step.REFACTORINGS, refactorings.cpu_seconds)
    found.pair['refactorings'] = summary(refactorings)
    found.refactorings = tuple(refactoring_rows(pair, refactorings))
    for item in tracked:
        method_id = item.wanted.method_id
        found.columns[method_id] |= _flags(scene, refactorings, item, changed[method_id])


def _flags(
    scene: Scene, refactorings: Refactorings, item: Judged, delta: Delta
) -> dict[str, bool | None]:
    candidate = item.wanted.candidate
    return {
        'test_only_refactored': test_only_refactored(
            scene.tools.repository, scene.pair, refactorings, (candidate.old, candidate.new)
        ),
        'source_only_refactored': source_only_refactored(
            scene.tools.repository, scene.pair, refactorings, delta.changes
        ),
    }


def _ask_guards(scene: Scene, tracked: Sequence[Judged], found: Study) -> None:
    repairs = [item for item in tracked if item.decision.track is Track.REPAIR]
    if not repairs:
        return
    repository, old = scene.tools.repository, scene.pair.old.rev
    guards = guard_repairs(
        scene.workshop,
        scene.pair,
        scene.evaluation,
        [item.wanted for item in repairs],
        [item.wanted for item in tracked],
        lambda method: siblings(repository, old, method),
    )
    found.add('guard', guards)
    kinds = {
        item.wanted.method_id: repair_kind(item.decision.label, item.decision.cause)
        for item in repairs
    }
    found.add('repair_kind', {key: str(kind) if kind else None for key, kind in kinds.items()})


def _ask_suites(scene: Scene, found: Study) -> None:
    if not scene.tools.profile.suites:
        return
    for name, build in (
        ('suite_old', scene.evaluation.old),
        ('suite_new', scene.evaluation.new),
    ):
        answer, spent = scene.tools.suites.answer(scene.workshop, build)
        scene.evaluation.cost.add(Step.SUITE, spent)
        found.pair[name] = answer


def _cases(scene: Scene, labelled: Sequence[Judged], found: Study) -> dict[str, TrackCase]:
    cases = {}
    for item in labelled:
        if item.decision.track is not None:
            columns = found.columns[item.wanted.method_id]
            cases[item.wanted.method_id] = TrackCase(
                profile=scene.tools.profile,
                track=item.decision.track,
                isolated=columns.get('isolated'),
                guard=columns.get('guard'),
                # not asked, where the profile does not want to know
                test_only_refactored=columns.get('test_only_refactored', False),
                source_only_refactored=columns.get('source_only_refactored', False),
                suite_old=found.pair.get('suite_old'),
                suite_new=found.pair.get('suite_new'),
            )
    return cases


# -- what the gold tests are worth -----------------------------------------------------------------


def _measure(scene: Scene, changed: Mapping[str, Delta], found: Study) -> None:
    """Mutants and reversals for the methods that keep their track; half of the budget is for each."""
    tests = [
        GoldTest(
            method_id=item.wanted.method_id,
            method=item.wanted.candidate.new,
            dependencies=changed[item.wanted.method_id].dependencies,
        )
        for item in found.judged
        if item.decision.track is not None and item.wanted.candidate.new is not None
    ]
    budget = scene.tools.profile.measure_cpu_seconds / 2
    if not tests or not budget:
        return
    bench = _bench(scene, budget)
    mutated = measure_mutants(bench, tests)
    scene.evaluation.cost.add(Step.MUTANTS, bench.cpu_seconds, len(mutated.rows))
    found.mutants = mutated.rows
    found.add('mutation', mutated.mutations)
    bench = _bench(scene, budget)
    found.reversals = measure_reversals(bench, tests)
    scene.evaluation.cost.add(Step.REVERSALS, bench.cpu_seconds, len(found.reversals))


def _bench(scene: Scene, budget: float) -> Bench:
    return Bench(
        workshop=scene.workshop,
        repository=scene.tools.repository,
        pair=scene.pair,
        override=scene.evaluation.override,
        budget=budget,
    )
