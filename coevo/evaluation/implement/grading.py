"""The grading of submitted code by the tests of a change, compared with the start and with gold's
code.

A target runs in three fresh processes, once observed. If all pass, the tests that passed at the
start run; and if these pass, the tests that are not shown: siblings and variants. A loss counts if
it occurs three times: with the others, and twice alone.

Whether tests end otherwise because submitted code changed them is seen from outside as far as the
language offers it (`RunConditions.observed`). The rest is the variants' business: code that makes
assertions ineffective passes those that fail with gold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coevo.evaluation.implement.context import CodeContext, CodeEnd, Methods
from coevo.evaluation.implement.variants import (
    Ending,
    VariantFile,
    find_steady_endings,
    make_ending_if_pass_or_fail,
    make_literal_variants,
    passes_failing_variants,
    run_variant_with_cpu_seconds,
)
from coevo.evaluation.judging.outcomes import GradingResult, make_trouble_result
from coevo.evaluation.judging.protocol import BuildFailure
from coevo.evaluation.judging.submitted_tests import PASSES, run_alone
from coevo.evaluation.judging.task_context import recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import DemandedResult, SuiteOutcome, SuiteTest
from coevo.languages.cells import CompiledTests
from coevo.languages.table import get_reading
from coevo.languages.verdicts import RunConditions, Verdict
from coevo.model.families import TestRole
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import Files, describe_verdict, is_broken, is_pass

# The outcomes of a task's tests at the start and with gold's code, found once for each task.
#
# Neither run sees a submission. Tests that do not end in the same way each time ask for nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """The tests that have to pass with submitted code, by name.

    targets   of the test file that is shown: they fail at the start and pass with gold
    kept      of the touched modules: they pass at both ends
    siblings  they are not shown, and pass with gold
    endings   how variants of the targets end with gold
    unmet     how a target that the task names ends otherwise; None if none does
    """

    targets: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    siblings: tuple[str, ...] = ()
    endings: tuple[Ending, ...] = ()
    unmet: str | None = None
    cpu_seconds: float = 0.0


def run_tests_for_baseline(context: CodeContext, start: CodeEnd) -> Baseline:
    """Run the tests of a task at the start and with gold.

    start  the build of the start state
    Raises: Transient if a test process does not start.
    """
    runs = _BaselineRuns(context=context, start=start, gold=context.build_gold())
    own = context.list_tests_of_shown_file()
    at_start = runs.collect(start, own)
    fails = {name: own[name] for name, verdict in at_start.items() if is_broken(verdict.outcome)}
    targets = runs.find_passing_with_gold(fails)
    unmet = _describe_unmet_demand(context, at_start, targets)
    if unmet is not None:
        return Baseline(unmet=unmet, cpu_seconds=runs.cpu_seconds)
    passes = {name: own[name] for name, verdict in at_start.items() if is_pass(verdict.outcome)}
    siblings = dict(context.list_named_sibling_tests())
    return Baseline(
        targets=targets,
        kept=runs.find_tests_passing_at_both_ends(passes, context.draw_tests_of_other_files()),
        siblings=runs.find_passing_with_gold(siblings, context.load_gold_sibling_files()),
        endings=tuple(runs.find_steady_gold_variant_endings({name: own[name] for name in targets})),
        cpu_seconds=runs.cpu_seconds,
    )


def _describe_unmet_demand(
    context: CodeContext, at_start: Mapping[str, Verdict], targets: Sequence[str]
) -> str | None:
    """Return how a target that the task names ends otherwise than it has to; None if none does."""
    for name in context.assignment.task.shown_target_names:
        if name not in at_start:
            return f'{name} is not in the test file'
        if is_pass(at_start[name].outcome):
            return f'{name} passes at the start'
        if name not in targets:
            return f'{name} does not pass with gold'
    return None


@dataclass(slots=True, kw_only=True)
class _BaselineRuns:
    context: CodeContext
    start: CodeEnd
    gold: CodeEnd
    cpu_seconds: float = 0.0

    def collect(
        self, end: CodeEnd, methods: Methods, files: Files = (), *, reruns_not_passing: bool = True
    ) -> Mapping[str, Verdict]:
        """Return the verdicts on tests with a code; see `CodeContext.collect_verdicts_with_cpu_seconds`."""
        verdicts, spent = self.context.collect_verdicts_with_cpu_seconds(
            end, methods, files, reruns_not_passing=reruns_not_passing
        )
        self.cpu_seconds += spent
        return verdicts

    def find_passing_with_gold(self, methods: Methods, files: Files = ()) -> tuple[str, ...]:
        """Return the names of the tests that pass with gold."""
        verdicts = self.collect(self.gold, methods, files)
        return tuple(name for name in methods if is_pass(verdicts[name].outcome))

    def find_tests_passing_at_both_ends(self, own: Methods, others: Methods) -> tuple[str, ...]:
        """Return the tests that pass at both ends.

        own     those of the shown file that pass at the start
        others  those of other files
        """
        at_start = self.collect(self.start, others, reruns_not_passing=False)
        passing = {
            name: method
            for name, method in others.items()
            if name in at_start and is_pass(at_start[name].outcome)
        }
        candidates = {**own, **passing}
        with_gold = self.collect(self.gold, candidates, reruns_not_passing=False)
        return tuple(
            name for name in candidates if name in with_gold and is_pass(with_gold[name].outcome)
        )

    def find_steady_gold_variant_endings(self, targets: Methods) -> Iterator[Ending]:
        """Yield how variants of the targets end with gold, each time alike."""
        for variant in make_literal_variants(self.context, targets):
            runs = []
            for _ in range(2):
                verdicts, spent = run_variant_with_cpu_seconds(
                    self.context, self.gold, variant, variant.changed
                )
                self.cpu_seconds += spent
                runs.append(verdicts)
            yield from find_steady_endings(variant, runs[0], runs[1])


# The grading of submitted code by the tests of a change.

_WHAT = 'implement'
# How often a loss must be repeated alone in a fresh process, after the run with all others.
_CONFIRMATIONS = 2


def grade_code(
    context: CodeContext, submitted_rev: str, left_out: tuple[str, ...], ledger: Ledger | None
) -> GradingResult:
    """Grade a commit with submitted code.

    left_out  files of the patch that have no effect
    Raises: Transient if a test process does not start; BuildFailure if the start does not build.
    """
    began = time.monotonic()
    end = context.build_code(submitted_rev)
    start = CodeEnd(built=end.built, rev=context.start_rev)
    trouble = start.build.find_trouble(context.module)
    if trouble is not None:
        raise BuildFailure(f'the start state does not build on this machine: {trouble}')
    baseline = recall_or_compute(
        ledger,
        context.assignment,
        (_WHAT,),
        Baseline,
        lambda: run_tests_for_baseline(context, start),
    )
    if baseline.unmet is not None:
        return make_trouble_result(context.assignment, Detail.PRECONDITION, baseline.unmet)
    grading = _CodeGrading(context=context, end=end, baseline=baseline)
    seen = grading.grade()
    return GradingResult(
        suite=replace(seen, left_out=left_out),
        runtime=start.build.runtime,
        cpu_seconds=grading.cpu_seconds + end.build.cpu_seconds + start.build.cpu_seconds,
        seconds=time.monotonic() - began,
    )


@dataclass(slots=True, kw_only=True)
class _CodeGrading:
    context: CodeContext
    end: CodeEnd
    baseline: Baseline
    cpu_seconds: float = 0.0

    def grade(self) -> SuiteRunResult:
        """Run the tests with the submitted code, as far as the ones before hold."""
        trouble = self.end.build.find_trouble(self.context.module)
        if trouble is not None:
            return SuiteRunResult(settled=SuiteOutcome.CMPL_FAIL, builds=False)
        tests = tuple(self._grade_targets())
        builds = all(test.outcome is not Outcome.COMPILE_ERROR for test in tests)
        seen = SuiteRunResult(builds=builds, tests=tests, demanded=())
        if not all(test.passes for test in tests):
            return seen
        kept_tests = tuple(self._grade_kept_tests())
        seen = replace(seen, demanded=kept_tests)
        if not all(test.holds for test in kept_tests):
            return seen
        variants, passing = self._grade_variants_and_list_passing()
        if passes_failing_variants(self.baseline.endings, passing):
            return replace(seen, forged=True)
        return replace(seen, demanded=(*kept_tests, *self._grade_siblings(), *variants))

    # -- targets -----------------------------------------------------------------------------------

    def _grade_targets(self) -> Iterator[SuiteTest]:
        own = self.context.list_tests_of_shown_file()
        read = get_reading(self.context.assignment.task.language)
        expects = read.list_expected_throws(self.context.start)
        observed = replace(self.context.conditions, observed=True, expects=expects)
        compiled = self.context.compile(self.end, self.context.module)
        self.cpu_seconds += compiled.cpu_seconds
        for name in self.baseline.targets:
            yield self._grade_target(name, own[name], compiled, observed)

    def _grade_target(
        self, name: str, method: TestMethod, compiled: CompiledTests, observed: RunConditions
    ) -> SuiteTest:
        """Run a target observed and, if it passes, twice without."""
        verdict = self._run_target(compiled, method, observed)
        test = SuiteTest(
            test_method=name,
            passes=is_pass(verdict.outcome) and verdict.tampered is None,
            outcome=verdict.outcome,
            signature=verdict.signature,
            tampered=verdict.tampered,
        )
        for _ in range(PASSES - 1):
            if test.passes:
                again = self._run_target(compiled, method, self.context.conditions)
                if not is_pass(again.outcome):
                    unstable = f'once pass, once {describe_verdict(again)}'
                    test = replace(test, passes=False, unstable=unstable)
        return test

    def _run_target(
        self, compiled: CompiledTests, method: TestMethod, conditions: RunConditions
    ) -> Verdict:
        verdict, batch = run_alone(self.end.built, compiled, method, conditions)
        self.cpu_seconds += batch.cpu_seconds
        return verdict

    # -- tests that have to pass, too --------------------------------------------------------------

    def _grade_kept_tests(self) -> Iterator[DemandedResult]:
        known = {
            **self.context.list_tests_of_shown_file(),
            **self.context.draw_tests_of_other_files(),
        }
        methods = {name: known[name] for name in self.baseline.kept}
        return self._grade_tests_that_must_pass(TestRole.KEPT, methods, ())

    def _grade_siblings(self) -> Iterator[DemandedResult]:
        known = dict(self.context.list_named_sibling_tests())
        methods = {name: known[name] for name in self.baseline.siblings}
        files = self.context.load_gold_sibling_files()
        return self._grade_tests_that_must_pass(TestRole.SIBLING, methods, files)

    def _grade_tests_that_must_pass(
        self, role: TestRole, methods: Methods, files: Files
    ) -> Iterator[DemandedResult]:
        """Run tests that have to pass; those that do not run twice more, alone."""
        verdicts = self._collect_verdicts(methods, files, reruns_not_passing=False)
        for name, method in methods.items():
            verdict = verdicts.get(name)
            for _ in range(_CONFIRMATIONS):
                if verdict is None or not is_pass(verdict.outcome):
                    verdict = self._collect_verdicts(
                        {name: method}, files, reruns_not_passing=True
                    )[name]
            assert verdict is not None, 'a test that runs alone has a verdict'
            yield _make_result(name, role, verdict, holds=is_pass(verdict.outcome))

    def _collect_verdicts(
        self, methods: Methods, files: Files, *, reruns_not_passing: bool
    ) -> Mapping[str, Verdict]:
        verdicts, spent = self.context.collect_verdicts_with_cpu_seconds(
            self.end, methods, files, reruns_not_passing=reruns_not_passing
        )
        self.cpu_seconds += spent
        return verdicts

    # -- variants ----------------------------------------------------------------------------------

    def _grade_variants_and_list_passing(self) -> tuple[list[DemandedResult], set[tuple[int, str]]]:
        """Return the results of all variants, and the copies and names of those that pass."""
        own = self.context.list_tests_of_shown_file()
        targets = {name: own[name] for name in self.baseline.targets}
        results = []
        passing = set()
        for variant in make_literal_variants(self.context, targets):
            expected = {
                end.name: end for end in self.baseline.endings if end.copy == variant.number
            }
            for name, verdict in self._run_variant(variant, expected).items():
                ending = make_ending_if_pass_or_fail(variant.number, name, verdict)
                if is_pass(verdict.outcome):
                    passing.add((variant.number, name))
                label = f'{name} with other literals ({variant.number + 1})'
                holds = ending == expected[name]
                results.append(_make_result(label, TestRole.VARIANT, verdict, holds=holds))
        return results, passing

    def _run_variant(
        self, variant: VariantFile, expected: Mapping[str, Ending]
    ) -> Mapping[str, Verdict]:
        """Return the verdicts on the targets of a copy; those that end otherwise run again alone."""
        methods = {name: variant.changed[name] for name in expected}
        if not methods:
            return {}
        verdicts = {**self._run_variant_once(variant, methods)}
        for name, method in methods.items():
            for _ in range(_CONFIRMATIONS):
                if (
                    make_ending_if_pass_or_fail(variant.number, name, verdicts.get(name))
                    != expected[name]
                ):
                    verdicts |= self._run_variant_once(variant, {name: method})
        return verdicts

    def _run_variant_once(self, variant: VariantFile, methods: Methods) -> Mapping[str, Verdict]:
        verdicts, spent = run_variant_with_cpu_seconds(self.context, self.end, variant, methods)
        self.cpu_seconds += spent
        return verdicts


def _make_result(name: str, role: TestRole, verdict: Verdict, *, holds: bool) -> DemandedResult:
    return DemandedResult(
        test_method=name,
        role=role,
        holds=holds,
        outcome=verdict.outcome,
        signature=verdict.signature,
    )
