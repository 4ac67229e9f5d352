"""What running the cells of a pair gives: runs, cells, costs, and whether the runs agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from coevo.languages.builds import Build
from coevo.languages.cells import SettingsScope
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import Verdict
from coevo.model.records import Candidate
from coevo.model.words import Cell, Outcome

# Outcomes of one method over subclasses and invocations, and over runs: the first one counts.
WORST_FIRST = tuple(Outcome)


class RunOrder(StrEnum):
    GIVEN = 'given'
    REVERSED = 'reversed'
    ALONE = 'alone'
    COMPILE = 'compile'  # a verdict that needed no run


RUN_ORDERS = (RunOrder.GIVEN, RunOrder.REVERSED, RunOrder.ALONE)


class Evidence(StrEnum):
    """Whether the runs of a method's deciding cells agree."""

    AGREED = 'agreed'
    FLAKY = 'flaky'
    ORDER_DEPENDENT = 'order_dependent'


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedMethod:
    """A candidate that is to be run, under the id of its row."""

    method_id: str
    candidate: Candidate


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRun:
    order: RunOrder
    verdict: Verdict

    @property
    def agreement(self) -> tuple[Outcome, str | None]:
        return self.verdict.outcome, self.verdict.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """All runs of one method in one cell; `unit_ok` is Maven's verdict on the whole test tree."""

    runs: tuple[MethodRun, ...]
    unit_ok: bool

    @property
    def outcome(self) -> Outcome:
        return self.deciding_verdict.outcome

    @property
    def deciding_verdict(self) -> Verdict:
        """The run that names the cell: the worst, the first of equals."""
        return min((run.verdict for run in self.runs), key=lambda v: WORST_FIRST.index(v.outcome))

    @property
    def unit_outcome(self) -> Outcome:
        return self.compute_unit_outcome(self.deciding_verdict)

    def compute_unit_outcome(self, verdict: Verdict) -> Outcome:
        """What Maven would say: nothing runs where any test of the module does not compile."""
        if verdict.outcome in (Outcome.UNBUILDABLE, Outcome.INFRA) or self.unit_ok:
            return verdict.outcome
        return Outcome.COMPILE_ERROR

    @property
    def pass_count(self) -> int:
        return sum(run.verdict.outcome is Outcome.PASS for run in self.runs)

    @property
    def evidence(self) -> Evidence:
        if len({run.agreement for run in self.runs}) == 1:
            return Evidence.AGREED
        by_order = {
            order: {run.agreement for run in self.runs if run.order is order}
            for order in RUN_ORDERS
        }
        steady = all(len(agreements) <= 1 for agreements in by_order.values())
        return Evidence.ORDER_DEPENDENT if steady else Evidence.FLAKY


class Step(StrEnum):
    """What CPU seconds go to; `tests` is the part of all runs that the methods themselves took."""

    BUILD = 'build'
    COMPILE = 'compile'
    RUN_GIVEN = 'run_given'
    RUN_REVERSED = 'run_reversed'
    RUN_ALONE = 'run_alone'
    RUN_REPEATED = 'run_repeated'
    RUN_FOR_CAUSE = 'run_for_cause'
    RUN_FOR_GUARD = 'run_for_guard'
    RUN_RECORDED = 'run_recorded'
    RUN_OBSERVED = 'run_observed'
    SUITE = 'suite'
    TRACE = 'trace'
    ISOLATION = 'isolation'
    REFACTORINGS = 'refactorings'
    MUTANTS = 'mutants'
    REVERSALS = 'reversals'
    TESTS = 'tests'


@dataclass(slots=True, kw_only=True)
class Cost:
    """CPU seconds of the sandboxed programs by step, and how often each step was taken."""

    cpu_seconds: dict[Step, float] = field(default_factory=dict)
    counts: dict[Step, int] = field(default_factory=dict)

    def add(self, step: Step, cpu_seconds: float, count: int = 1) -> None:
        self.cpu_seconds[step] = self.cpu_seconds.get(step, 0.0) + cpu_seconds
        self.counts[step] = self.counts.get(step, 0) + count


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEvaluation:
    """What the cells of a pair gave.

    built     the pair as it was built for them
    recorded  cells that decide nothing, of methods with a label, where somebody wants all cells
    """

    built: BuiltPair
    override: str | None
    results: Mapping[str, Mapping[Cell, CellResult]]  # by method id
    fixed_by_settings: Mapping[
        str, SettingsScope
    ]  # by method id: what, borrowed from the other revision, fixed it
    cost: Cost
    recorded: Mapping[str, Mapping[Cell, CellResult]] = field(default_factory=dict)

    @property
    def old(self) -> Build:
        return self.built.old

    @property
    def new(self) -> Build:
        return self.built.new

    def get_cells(self, method_id: str) -> Mapping[Cell, CellResult]:
        return self.results.get(method_id, {})

    def get_all_cells(self, method_id: str) -> Mapping[Cell, CellResult]:
        """With those that are only recorded."""
        return dict(
            sorted({**self.get_cells(method_id), **self.recorded.get(method_id, {})}.items())
        )

    def get_evidence(self, method_id: str) -> Evidence:
        """Of the cells that decide; one that is flaky outweighs one that depends on order."""
        kinds = {result.evidence for result in self.get_cells(method_id).values()}
        for worst in (Evidence.FLAKY, Evidence.ORDER_DEPENDENT):
            if worst in kinds:
                return worst
        return Evidence.AGREED

    @property
    def overrides(self) -> tuple[str, ...]:
        """All that was changed against the repository's own word, in every cell alike."""
        all_overrides = {
            *self.old.overrides,
            *self.new.overrides,
            *((self.override,) * bool(self.override)),
        }
        return tuple(sorted(o for o in all_overrides if o))
