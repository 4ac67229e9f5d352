"""Results of running the cells of a pair: runs, cells, costs, and whether the runs agree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from coevo.languages.cells import Build, SettingsScope
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import Verdict
from coevo.model.labels import correct_change_by_cells
from coevo.model.records import Candidate
from coevo.model.words import Cell, Outcome

# If a method has several outcomes (subclasses, invocations, runs), the first one here counts.
WORST_FIRST = tuple(Outcome)


class RunOrder(StrEnum):
    """In which order a method was run."""

    GIVEN = 'given'
    REVERSED = 'reversed'
    ALONE = 'alone'
    COMPILE = 'compile'  # the compiler's verdict, without a run


RUN_ORDERS = (RunOrder.GIVEN, RunOrder.REVERSED, RunOrder.ALONE)


class Evidence(StrEnum):
    """The agreement of a method's runs.

    AGREED: all runs are equal. FLAKY: runs in the same order differ. ORDER_DEPENDENT: only runs in
    different orders differ.
    """

    AGREED = 'agreed'
    FLAKY = 'flaky'
    ORDER_DEPENDENT = 'order_dependent'


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedMethod:
    """A candidate that is to be run, with the id of its row."""

    method_id: str
    candidate: Candidate

    def correct_change(self, cells: Mapping[Cell, CellResult]) -> SelectedMethod:
        """Return the method with the change that its cells show; see `labels.correct_change_by_cells`."""
        outcomes = {cell: result.outcome for cell, result in cells.items()}
        change = correct_change_by_cells(self.candidate.change, outcomes)
        return replace(self, candidate=replace(self.candidate, change=change))


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRun:
    """One run of a method, or the compiler's verdict on it."""

    order: RunOrder
    verdict: Verdict

    @property
    def agreement_key(self) -> tuple[Outcome, str | None]:
        """Outcome and failure signature; runs agree if these are equal."""
        return self.verdict.outcome, self.verdict.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class CellResult:
    """All runs of one method in one cell.

    unit_ok  whether the unit of the method's file (for Maven the whole module) compiles
    """

    runs: tuple[MethodRun, ...]
    unit_ok: bool

    @property
    def outcome(self) -> Outcome:
        """The worst outcome of the runs, which counts for the cell."""
        return self.deciding_verdict.outcome

    @property
    def deciding_verdict(self) -> Verdict:
        """The verdict that counts for the cell: the worst one, and the first of equal ones."""
        return min((run.verdict for run in self.runs), key=lambda v: WORST_FIRST.index(v.outcome))

    @property
    def outcome_by_unit(self) -> Outcome:
        """The outcome that counts for the cell, as `compute_outcome_by_unit` gives it."""
        return self.compute_outcome_by_unit(self.deciding_verdict)

    def compute_outcome_by_unit(self, verdict: Verdict) -> Outcome:
        """Return COMPILE_ERROR if the method's unit does not compile, else the verdict's outcome.

        The project's own tool, such as Maven, runs no test if any file of the unit does not
        compile. UNBUILDABLE and INFRA are returned as they are.
        """
        if verdict.outcome in (Outcome.UNBUILDABLE, Outcome.INFRA) or self.unit_ok:
            return verdict.outcome
        return Outcome.COMPILE_ERROR

    @property
    def pass_count(self) -> int:
        """The number of runs that passed."""
        return sum(run.verdict.outcome is Outcome.PASS for run in self.runs)

    @property
    def evidence(self) -> Evidence:
        """The agreement of the runs; if they differ, whether the order of the tests explains it."""
        if len({run.agreement_key for run in self.runs}) == 1:
            return Evidence.AGREED
        by_order = {
            order: {run.agreement_key for run in self.runs if run.order is order}
            for order in RUN_ORDERS
        }
        steady = all(len(agreements) <= 1 for agreements in by_order.values())
        return Evidence.ORDER_DEPENDENT if steady else Evidence.FLAKY


class Step(StrEnum):
    """Steps that use CPU seconds.

    `tests` is a part of all runs: the time in the test methods themselves.
    """

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
    UMPIRE = 'umpire'
    TRACE = 'trace'
    ISOLATION = 'isolation'
    REFACTORINGS = 'refactorings'
    MUTANTS = 'mutants'
    REVERSALS = 'reversals'
    MEASURED_BUILD = 'measured_build'
    MEASURED_TRACE = 'measured_trace'
    TESTS = 'tests'


@dataclass(slots=True, kw_only=True)
class Cost:
    """CPU seconds of the sandboxed programs and number of times, by step."""

    cpu_seconds: dict[Step, float] = field(default_factory=dict)
    counts: dict[Step, int] = field(default_factory=dict)

    def add(self, step: Step, cpu_seconds: float, count: int = 1) -> None:
        """Add CPU seconds to a step; `count` says how many times it was taken."""
        self.cpu_seconds[step] = self.cpu_seconds.get(step, 0.0) + cpu_seconds
        self.counts[step] = self.counts.get(step, 0) + count


@dataclass(frozen=True, slots=True, kw_only=True)
class PairEvaluation:
    """The results of a pair's cells.

    built              the pair as it was built for the cells
    override           the workaround under which all cells ran, if any
    results            by method id and cell
    fixed_by_settings  by method id, what had to be borrowed from the other revision so that a
                       broken cell passes
    recorded           as `results`: cells that decide nothing; only if all cells were asked for
    selected           the methods, each with the change that its cells show
    """

    built: BuiltPair
    override: str | None
    results: Mapping[str, Mapping[Cell, CellResult]]
    fixed_by_settings: Mapping[str, SettingsScope]
    cost: Cost
    recorded: Mapping[str, Mapping[Cell, CellResult]] = field(default_factory=dict)
    selected: tuple[SelectedMethod, ...] = ()

    @property
    def old(self) -> Build:
        """The build of the old revision."""
        return self.built.old

    @property
    def new(self) -> Build:
        """The build of the new revision."""
        return self.built.new

    def get_deciding_cells(self, method_id: str) -> Mapping[Cell, CellResult]:
        """Return the deciding cells of a method; empty if it was not run."""
        return self.results.get(method_id, {})

    def get_deciding_and_recorded_cells(self, method_id: str) -> Mapping[Cell, CellResult]:
        """Return the deciding and the recorded cells of a method."""
        return dict(
            sorted(
                {**self.get_deciding_cells(method_id), **self.recorded.get(method_id, {})}.items()
            )
        )

    def get_worst_evidence(self, method_id: str) -> Evidence:
        """Return the worst evidence of the deciding cells; flaky is worse than order-dependent."""
        kinds = {result.evidence for result in self.get_deciding_cells(method_id).values()}
        for worst in (Evidence.FLAKY, Evidence.ORDER_DEPENDENT):
            if worst in kinds:
                return worst
        return Evidence.AGREED

    @property
    def overrides(self) -> tuple[str, ...]:
        """All deviations from the repository's own settings in builds and runs, sorted.

        They are the same in all cells.
        """
        all_overrides = {
            *self.old.overrides,
            *self.new.overrides,
            *((self.override,) * bool(self.override)),
        }
        return tuple(sorted(o for o in all_overrides if o))
