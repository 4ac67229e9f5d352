"""One submitted suite, judged: every test of the file, each in fresh processes of its own, watched once.

The start state is the revision without the file, so that nothing of gold is beside it. A test that passes
under the eyes of an observer is run once more without one (docs/trust.md, "Submitted patches").
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from dataclasses import replace

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.protocol import check_builds
from coevo.evaluation.judging.protocol import code_shadows
from coevo.evaluation.judging.protocol import in_place_of_code
from coevo.evaluation.judging.shown_sources import shown_sources
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.cascades import cascades
from coevo.evaluation.suites.cascades import cause
from coevo.evaluation.suites.measuring import measured
from coevo.evaluation.suites.methods import methods_by_name
from coevo.evaluation.suites.outcomes import JudgedSuite
from coevo.evaluation.suites.outcomes import SuiteSeen
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.evaluation.suites.records import SuiteTest
from coevo.evaluation.suites.remarks import Remarks
from coevo.git.repository import Repository
from coevo.languages.cells import Compiled
from coevo.languages.conditions import Conditions
from coevo.languages.table import reading
from coevo.languages.verdicts import Verdict
from coevo.model.families import MOST_TESTS
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import said


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """A patched file, None if it was deleted; what it was at the start.

    repository, tests_rev  a commit of the start state with the patched file, which is read and never
                           laid out
    """

    assignment: Assignment
    repository: Repository
    start: bytes | None
    patched: bytes | None
    tests_rev: str


def judge_suite(
    context: TaskContext,
    patched: bytes,
    methods: Mapping[str, TestMethod],
    ledger: Ledger | None,
) -> JudgedSuite:
    """The tests of a patched file, by name; Transient, NotBuilt."""
    began = time.monotonic()
    check_builds(context)
    files = ((context.assignment.task.test_file, patched),)
    cell = context.compile(context.pair.new.rev, files)
    spent = context.built.old.cpu_seconds + context.built.new.cpu_seconds + cell.cpu_seconds
    runtime = context.built.new.runtime
    shadows = code_shadows(context, cell)
    if shadows:
        seen = SuiteSeen(refusal=in_place_of_code(shadows))
        return JudgedSuite(seen=seen, runtime=runtime, cpu_seconds=spent)
    sources, asked = shown_sources(context, ledger)
    context = replace(context, conditions=replace(context.conditions, sources=sources))
    run = _Run(context=context, cell=cell, expects=_expects(context, patched))
    remarks = Remarks(context=context, patched=patched)
    judged = zip(run.all_judged(methods), methods.values(), strict=True)
    tests = tuple(remarks.noted(test, method) for test, method in judged)
    builds = all(test.outcome is not Outcome.COMPILE_ERROR for test in tests)
    seen = SuiteSeen(builds=builds, tests=tests)
    spent += asked + run.cpu_seconds
    is_measured = context.measured and context.assignment.standing is not None
    if is_measured and any(test.passes for test in tests):
        seen, used = measured(context, patched, methods, seen)
        spent += used
    return JudgedSuite(
        seen=seen, runtime=runtime, cpu_seconds=spent, seconds=time.monotonic() - began
    )


def submitted_tests(submission: Submission) -> Mapping[str, TestMethod] | SuiteSeen:
    """The tests of a file by name, or what is to be said of one without any."""
    patched, task = submission.patched, submission.assignment.task
    if patched is None or not patched.strip():
        return SuiteSeen(settled=SuiteOutcome.EMPTY)
    if patched == submission.start:
        return SuiteSeen(settled=SuiteOutcome.NO_CHANGE)
    read = reading(task.language)
    file = read.parse(patched, task.test_file)
    tree = read.tree(submission.repository, submission.tests_rev)
    found = read.find_tests(
        file, lambda simple: [one.type for one in tree.resolve(task.test_file, simple)]
    )
    if len(found) > MOST_TESTS:
        many = f'the file has {len(found)} tests, at most {MOST_TESTS} are judged'
        return SuiteSeen(refusal=Refusal(detail=Detail.TOO_MANY_TESTS, said=many))
    if not found:
        lost = SuiteOutcome.CMPL_FAIL if file.has_error else SuiteOutcome.NO_TESTS
        return SuiteSeen(settled=lost)
    return methods_by_name(task.module, task.test_file, found)


def _expects(context: TaskContext, patched: bytes) -> tuple[str, ...]:
    return reading(context.assignment.task.language).expected_throws(patched)


@dataclass(slots=True, kw_only=True)
class _Run:
    context: TaskContext
    cell: Compiled
    expects: tuple[str, ...]
    cpu_seconds: float = 0.0
    causes: list[str | None] = field(default_factory=list)

    def all_judged(self, methods: Mapping[str, TestMethod]) -> tuple[SuiteTest, ...]:
        tests = [self._judged(*one) for one in methods.items()]
        shared = cascades(self.causes)
        return tuple(replace(test, cascade=of) for test, of in zip(tests, shared, strict=True))

    def _judged(self, name: str, method: TestMethod) -> SuiteTest:
        """One run that is watched and, if it passes, one that is not."""
        plain = self.context.conditions
        watched = replace(plain, observed=True, expects=self.expects)
        verdict = self._run(method, watched)
        self.causes.append(cause(verdict))
        test = SuiteTest(
            test_method=name,
            passes=verdict.outcome is Outcome.PASS and verdict.tampered is None,
            outcome=verdict.outcome,
            signature=verdict.signature,
            tampered=verdict.tampered,
        )
        if not test.passes:
            return test
        again = self._run(method, plain)
        if again.outcome is Outcome.PASS:
            return test
        return replace(test, passes=False, unstable=f'once pass, once {said(again)}')

    def _run(self, method: TestMethod, conditions: Conditions) -> Verdict:
        verdict, batch = run_alone(self.context.built, self.cell, method, conditions)
        self.cpu_seconds += batch.cpu_seconds
        return verdict
