"""The grading of submitted code by the tests of a change.

A target runs in three fresh processes, once observed. If all pass, the tests that passed at the
start run; and if these pass, the tests that are not shown: siblings and variants. A loss counts if
it occurs three times: with the others, and twice alone.

Whether tests end otherwise because submitted code changed them is seen from outside as far as the
language offers it (`RunConditions.observed`). The rest is the variants' business: code that makes
assertions ineffective passes those that fail with gold.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from coevo.evaluation.implement.baseline import Baseline, run_tests_for_baseline
from coevo.evaluation.implement.context import CodeContext, CodeEnd, Methods
from coevo.evaluation.implement.variants import (
    Ending,
    VariantFile,
    make_ending_if_pass_or_fail,
    make_literal_variants,
    passes_failing_variants,
    run_variant_with_cpu_seconds,
)
from coevo.evaluation.judging.outcomes import GradingResult, make_trouble_result
from coevo.evaluation.judging.protocol import BuildFailure
from coevo.evaluation.judging.steadiness import PASSES, run_alone
from coevo.evaluation.judging.task_context import recall_or_compute
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import DemandedResult, SuiteOutcome, SuiteTest
from coevo.languages.cells import CompiledTests
from coevo.languages.observation import RunConditions
from coevo.languages.table import get_reading
from coevo.languages.verdicts import Verdict
from coevo.model.families import TestRole
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import Files, describe_verdict, is_pass

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
