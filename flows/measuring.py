"""Measure what the gold tests of one segment are worth: coverage, mutants, and undone changes.

Only methods with a track are measured, in the start tree of their task without its siblings. The
segment says all that is needed: tests, dependencies, start states and the override of the runs. So
the measures are the same whether they are made with the builds of mining or with later ones.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from coevo.engine.results import Cost, Step
from coevo.evaluation.judging.start_states import restore_sibling_files
from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability
from coevo.languages.cells import CellEdits
from coevo.languages.core.test_runs import PassingTimes
from coevo.languages.engine import BuiltPair
from coevo.languages.table import offers_capability
from coevo.languages.verdicts import RunConditions
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.mutants import MutantMeasures, measure_mutants
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Revised, select_called_or_all_dependencies
from coevo.model.method_rows import MethodRow
from coevo.model.quality import ReversalRow
from coevo.model.records import compute_short_hash
from coevo.model.segment import MeasureRecord, MethodMeasures, Segment
from flows.budgets import build_timing_rows, list_cost_laps
from flows.study.execution import add_coverage

OWN = 'measure'
"""The step of a pair's own thread while it is measured, and of builds that only measuring needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureSettings:
    """The measures to take, and the code that takes them.

    basis     hash of the code and the tools that measure
    runs      most runs of tests of one pair, half for mutants and half for undone changes; 0 makes
              neither
    traces    whether the coverage of tests whose siblings are removed is measured
    is_exact  whether measures with another number of runs do not meet the settings
    """

    basis: str
    runs: int
    traces: bool
    is_exact: bool = False

    @property
    def measures_something(self) -> bool:
        """False if the settings ask for nothing."""
        return self.runs > 0 or self.traces

    def compute_key(self, segment_key: str) -> str:
        """Return the key of the measures of a segment, which changes with all they depend on."""
        return compute_short_hash(segment_key, self.basis, f'{self.runs} runs', str(self.traces))

    def is_met_by(self, record: MeasureRecord) -> bool:
        """Return whether measures that exist need not be made again."""
        if self.is_exact and record.runs != self.runs:
            return False
        return record.basis == self.basis and record.traces >= self.traces


def find_override(segment: Segment) -> str | None:
    """Return the override that all runs of a pair were given; None if they had none."""
    return next((row.override for row in segment.cells if row.override is not None), None)


def measure_segment(
    settings: MeasureSettings,
    repository: Repository,
    segment: Segment,
    built: BuiltPair,
    *,
    is_rebuilt: bool = False,
) -> MeasureRecord:
    """Measure the methods of a segment that have a track, and return their measures.

    built       the pair of the segment, built as it was for its cells
    is_rebuilt  whether it was built for this alone, which the timings then say

    Raises: Transient if a test process does not start.
    """
    cpu, wall = time.thread_time(), time.monotonic()
    work = _SegmentMeasuring(
        segment=segment,
        repository=repository,
        built=built,
        override=find_override(segment),
        cost=Cost(),
    )
    rows = tuple(row for row in segment.methods if row.track is not None)
    if is_rebuilt:
        for build in (built.old, built.new):
            work.cost.add(Step.MEASURED_BUILD, build.cpu_seconds)
    tests = work.make_gold_tests(rows)
    if settings.traces and offers_capability(segment.pair.language, Capability.TRACE):
        rows = tuple(map(work.add_start_coverage, rows, tests))
    mutated = MutantMeasures(rows=(), mutations={})
    reversals: tuple[ReversalRow, ...] = ()
    if settings.runs // 2:
        mutated = work.run_dependency_mutants(rows, tests, settings.runs // 2)
        reversals = work.measure_all_reversals(tests, settings.runs // 2)
    laps = list_cost_laps(work.cost)
    laps[OWN] = (time.thread_time() - cpu, time.monotonic() - wall, 1)
    return MeasureRecord(
        pair_id=segment.pair.pair_id,
        segment=segment.key,
        key=settings.compute_key(segment.key),
        basis=settings.basis,
        runs=settings.runs,
        traces=settings.traces,
        methods=tuple(
            MethodMeasures(
                method_id=row.method_id,
                coverage=row.coverage,
                covered_dependencies=row.covered_dependencies,
                mutation=mutated.mutations.get(row.method_id),
            )
            for row in rows
        ),
        mutants=mutated.rows,
        reversals=reversals,
        timings=tuple(build_timing_rows(segment.pair, laps)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _SegmentMeasuring:
    segment: Segment
    repository: Repository
    built: BuiltPair
    override: str | None
    cost: Cost
    passing: PassingTimes = field(default_factory=PassingTimes)

    def make_gold_tests(self, rows: Sequence[MethodRow]) -> tuple[GoldTest, ...]:
        """Return the tests of rows, each with all its dependencies and the files of its start."""
        around = {
            (str(start.track), start.test_file): restore_sibling_files(
                self.repository,
                self.segment.pair.new_rev,
                start.test_file,
                start.siblings,
                start.sibling_patch,
            )
            for start in self.segment.starts
        }
        return tuple(
            GoldTest(
                method_id=row.method_id,
                method=row.method,
                dependencies=row.dependencies,
                tests=around.get((str(row.track), row.test_file), ()),
            )
            for row in rows
        )

    def add_start_coverage(self, row: MethodRow, test: GoldTest) -> MethodRow:
        """Return a row with the coverage of its test in the start tree.

        For tests without removed siblings the trace of their cell has shown it already.
        """
        if not test.tests:
            return row
        new = self.segment.pair.new_rev
        compiled = self.built.compile(
            new,
            new,
            test.method.module,
            edits=CellEdits(tests=test.tests),
            methods=(test.method,),
        )
        files = frozenset(d.file for d in row.dependencies if d.revised is not Revised.REMOVED)
        conditions = RunConditions(override=self.override)
        traced = self.built.trace(compiled, [test.method], files, conditions)
        self.cost.add(Step.MEASURED_TRACE, compiled.cpu_seconds + traced.cpu_seconds)
        (trace,) = traced.traces
        if trace is None:
            return replace(row, coverage=None, covered_dependencies=None)
        return add_coverage(row, row.dependencies, trace)

    def run_dependency_mutants(
        self, rows: Sequence[MethodRow], tests: Sequence[GoldTest], most_runs: int
    ) -> MutantMeasures:
        """Run mutants of the dependencies in the list that the profile chose."""
        listed = [
            replace(
                test,
                dependencies=select_called_or_all_dependencies(
                    test.dependencies, row.dependency_list
                ),
            )
            for row, test in zip(rows, tests, strict=True)
        ]
        runner = self._make_runner()
        mutated = measure_mutants(runner, listed, most_runs)
        self.cost.add(Step.MUTANTS, runner.cpu_seconds, len(mutated.rows))
        return mutated

    def measure_all_reversals(
        self, tests: Sequence[GoldTest], most_runs: int
    ) -> tuple[ReversalRow, ...]:
        """Undo each part of all dependencies."""
        runner = self._make_runner()
        reversals = measure_reversals(runner, tests, most_runs)
        self.cost.add(Step.REVERSALS, runner.cpu_seconds, len(reversals))
        return reversals

    def _make_runner(self) -> EditedCellRunner:
        return EditedCellRunner(
            built=self.built,
            repository=self.repository,
            override=self.override,
            passing=self.passing,
        )
