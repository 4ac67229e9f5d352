"""The grading of one submitted suite, as it is and after mechanical fixes.

The start state is the revision without the file, so that gold is not there. A test that passes
under observation runs once more without it (docs/trust.md, "What a submitted patch cannot do").
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.judging.protocol import check_builds, find_code_shadows, make_shadow_refusal
from coevo.evaluation.judging.submitted_tests import (
    choose_shown_sources_with_cpu_seconds,
    run_alone,
)
from coevo.evaluation.judging.task_context import GradingCase, TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.suites.measuring import measure_suite_with_cpu_seconds
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import SuiteFix, SuiteOutcome, SuiteTest
from coevo.evaluation.suites.texts import index_methods_by_name
from coevo.git.repository import Repository
from coevo.languages.cells import CompiledTests
from coevo.languages.declarations import DeclaredType
from coevo.languages.fixes import MechanicalFixer, ProjectFiles, TestFailure
from coevo.languages.measures import ErrorClass
from coevo.languages.table import get_fixer, get_measures, get_reading
from coevo.languages.verdicts import RunConditions, Verdict
from coevo.measures.declaration_pairs import find_type_under_test
from coevo.model.families import MOST_TESTS
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import describe_verdict

# The grading of one submitted suite: each test runs in fresh processes, once observed.


def grade_suite(
    context: TaskContext,
    patched: bytes,
    methods: Mapping[str, TestMethod],
    ledger: Ledger | None,
) -> GradingResult:
    """Run and grade all tests of a patched file, and measure the passing ones together.

    The patch is refused if its classes would replace production code.
    methods  the tests of the file by name

    Raises: Transient if a test process does not start; BuildFailure if an end does not build.
    """
    graded = run_suite_tests(context, patched, methods, ledger)
    return measure_graded_suite(context, patched, methods, graded, ledger)


def measure_graded_suite(
    context: TaskContext,
    patched: bytes,
    methods: Mapping[str, TestMethod],
    graded: GradingResult,
    ledger: Ledger | None,
) -> GradingResult:
    """Return the grading of a patched file with the adequacy of its passing tests together.

    It is unchanged if nothing is to be measured, or if no test passes.
    graded  what `run_suite_tests` returned for the same file

    Raises: Transient if a test process does not start.
    """
    began, seen = time.monotonic(), graded.suite
    is_measured = context.measured and context.assignment.single_revision is not None
    if seen is None or not is_measured or not any(test.passes for test in seen.tests):
        return graded
    context = _add_shown_sources_with_cpu_seconds(context, ledger)[0]
    seen, spent = measure_suite_with_cpu_seconds(context, patched, methods, seen)
    return replace(
        graded,
        suite=seen,
        cpu_seconds=graded.cpu_seconds + spent,
        seconds=graded.seconds + time.monotonic() - began,
    )


def _add_shown_sources_with_cpu_seconds(
    context: TaskContext, ledger: Ledger | None
) -> tuple[TaskContext, float]:
    """Return the context with the sources that lie beside the tests, and the CPU seconds."""
    sources, cpu_seconds = choose_shown_sources_with_cpu_seconds(context, ledger)
    return replace(context, conditions=replace(context.conditions, sources=sources)), cpu_seconds


def run_suite_tests(
    context: TaskContext,
    patched: bytes,
    methods: Mapping[str, TestMethod],
    ledger: Ledger | None,
) -> GradingResult:
    """Run and grade all tests of a patched file, and measure nothing.

    methods  the tests of the file by name

    Raises: Transient if a test process does not start; BuildFailure if an end does not build.
    """
    began = time.monotonic()
    check_builds(context)
    files = ((context.assignment.task.test_file, patched),)
    cell = context.compile(context.pair.new.rev, files)
    spent = context.built.old.cpu_seconds + context.built.new.cpu_seconds + cell.cpu_seconds
    runtime = context.built.new.runtime
    shadows = find_code_shadows(context, cell)
    if shadows:
        return GradingResult(
            suite=SuiteRunResult(refusal=make_shadow_refusal(shadows)),
            runtime=runtime,
            cpu_seconds=spent,
            seconds=time.monotonic() - began,
        )
    context, sources_cpu_seconds = _add_shown_sources_with_cpu_seconds(context, ledger)
    run = _SuiteGrading(context=context, cell=cell, expects=_list_expected_throws(context, patched))
    remarks = SuiteAnnotator(context=context, patched=patched)
    judged = zip(run.grade_tests(methods), methods.values(), strict=True)
    tests = tuple(remarks.add_smells_and_assertions(test, method) for test, method in judged)
    builds = all(test.outcome is not Outcome.COMPILE_ERROR for test in tests)
    return GradingResult(
        suite=SuiteRunResult(builds=builds, tests=tests, failures=tuple(run.failures)),
        runtime=runtime,
        cpu_seconds=spent + sources_cpu_seconds + run.cpu_seconds,
        seconds=time.monotonic() - began,
    )


def find_submitted_tests(
    case: GradingCase, repository: Repository
) -> Mapping[str, TestMethod] | SuiteRunResult:
    """Return the tests of a submitted file by name, or the result of a file that needs no run.

    No run is needed for a file that is empty, unchanged, without tests, or with too many tests.
    """
    patched, task = case.patched, case.attempt.assignment.task
    if patched is None or not patched.strip():
        return SuiteRunResult(settled=SuiteOutcome.EMPTY)
    if patched == case.start:
        return SuiteRunResult(settled=SuiteOutcome.NO_CHANGE)
    read = get_reading(task.language)
    file = read.parse(patched, task.test_file)
    tree = read.open_tree(repository, case.tests_rev)
    test_members = read.find_tests(
        file,
        lambda simple: [
            resolved.type for resolved in tree.resolve_test_type(task.test_file, simple)
        ],
    )
    if len(test_members) > MOST_TESTS:
        many = f'the file has {len(test_members)} tests; coevo grades at most {MOST_TESTS}'
        return SuiteRunResult(refusal=Refusal(detail=Detail.TOO_MANY_TESTS, message=many))
    if not test_members:
        lost = SuiteOutcome.CMPL_FAIL if file.has_error else SuiteOutcome.NO_TESTS
        return SuiteRunResult(settled=lost)
    return index_methods_by_name(task.module, task.test_file, test_members)


def _list_expected_throws(context: TaskContext, patched: bytes) -> tuple[str, ...]:
    return get_reading(context.assignment.task.language).list_expected_throws(patched)


@dataclass(slots=True, kw_only=True)
class _SuiteGrading:
    context: TaskContext
    cell: CompiledTests
    expects: tuple[str, ...]
    cpu_seconds: float = 0.0
    causes: list[str | None] = field(default_factory=list)
    failures: list[TestFailure] = field(default_factory=list)

    def grade_tests(self, methods: Mapping[str, TestMethod]) -> tuple[SuiteTest, ...]:
        """Run every test, and number the causes that several failing tests share."""
        tests = [self._grade_test(*named_method) for named_method in methods.items()]
        shared = number_shared_causes(self.causes)
        return tuple(replace(test, cascade=of) for test, of in zip(tests, shared, strict=True))

    def _grade_test(self, name: str, method: TestMethod) -> SuiteTest:
        """Run a test once under observation and, if it passes, once without."""
        plain = self.context.conditions
        watched = replace(plain, observed=True, expects=self.expects)
        verdict = self._run_test(method, watched)
        self.causes.append(find_shareable_cause(verdict))
        test = SuiteTest(
            test_method=name,
            passes=verdict.outcome is Outcome.PASS and verdict.tampered is None,
            outcome=verdict.outcome,
            signature=verdict.signature,
            tampered=verdict.tampered,
        )
        if not test.passes:
            self.failures.append(
                TestFailure(signature=verdict.signature or '', message=verdict.message)
            )
            return test
        again = self._run_test(method, plain)
        if again.outcome is Outcome.PASS:
            return test
        return replace(test, passes=False, unstable=f'once pass, once {describe_verdict(again)}')

    def _run_test(self, method: TestMethod, conditions: RunConditions) -> Verdict:
        verdict, batch = run_alone(self.context.built, self.cell, method, conditions)
        self.cpu_seconds += batch.cpu_seconds
        return verdict


# Causes that several failing tests of a suite share, such as one missing import ("cascade errors"
# in MultiFileTest).
#
# A cause is a compile error, or an error with its message. A failed assertion and a timeout are
# never shared causes.


def find_shareable_cause(verdict: Verdict) -> str | None:
    """Return the cause of a failure, as a text that is equal for failures with the same cause.

    None for a pass, and for a failed assertion or a time-out, which tests cannot share.
    """
    if verdict.outcome is Outcome.COMPILE_ERROR:
        return verdict.signature
    if verdict.outcome is not Outcome.ERROR:
        return None
    if not verdict.message:
        return verdict.signature
    return f'{next(iter(verdict.exceptions), "?")}: {verdict.message}'


def number_shared_causes(causes: Sequence[str | None]) -> tuple[int | None, ...]:
    """Return for each cause its number if it occurs more than once, else None.

    The numbers count shared causes from 1, in the order in which they first occur.
    """
    counts = Counter(cause_key for cause_key in causes if cause_key is not None)
    shared = [cause_key for cause_key, count in counts.items() if count > 1]
    numbers = {cause_key: number for number, cause_key in enumerate(shared, 1)}
    return tuple(None if cause_key is None else numbers.get(cause_key) for cause_key in causes)


# Findings about the text of a submitted test: its smells, and why it does not compile.


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAnnotator:
    """An annotator of the tests of one patched file: adds what their text and errors show.

    about  the type under test of each class of tests, once it has been looked up
    """

    context: TaskContext
    patched: bytes
    about: dict[str, DeclaredType | None] = field(default_factory=dict)

    def add_smells_and_assertions(self, test: SuiteTest, method: TestMethod) -> SuiteTest:
        """Return the test with its smells, assertions and the class of its compile error.

        Each is None if the language does not offer it.
        """
        assertions, lines = self._count_assertions_and_lines(method)
        return replace(
            test,
            smells=self._find_smells(method),
            error_class=self._find_error_class(test),
            assertions=assertions,
            lines=lines,
        )

    def _count_assertions_and_lines(self, method: TestMethod) -> tuple[int | None, int | None]:
        """Return the assertions and the lines of a test; None and None if its language counts none."""
        language = self.context.pair.language
        known, text = get_measures(language).assertions, self._find_test_source(method)
        if known is None or text is None:
            return None, None
        lines = sum(bool(line.strip()) for line in text.splitlines())
        return len(known.list_assertions(text)), lines

    def _find_test_source(self, method: TestMethod) -> str | None:
        """Return the text of a test; None if a parent declares it."""
        read = get_reading(self.context.pair.language)
        file = read.parse(self.patched, method.test_file)
        here = method.test_class, method.test_method, method.parameters
        members = (member for type_ in file.types for member in type_.members)
        return next(
            (
                member.source
                for member in members
                if (member.owner, member.name, member.parameters) == here
            ),
            None,
        )

    def _find_smells(self, method: TestMethod) -> tuple[str, ...] | None:
        pair = self.context.pair
        known = get_measures(pair.language).smells
        if known is None:
            return None
        try:
            smells = known.find_smells(self.patched, method, self._find_type_under_test(method))
        except LookupError:  # a parent declares it, or it is nested too deep
            return None
        return tuple(map(str, smells))

    def _find_type_under_test(self, method: TestMethod) -> DeclaredType | None:
        """Return the type that a test class is named after; None if there is none.

        It is looked up once for each class, since that takes all code.
        """
        name, pair = method.test_class, self.context.pair
        if name not in self.about:
            read, repository = get_reading(pair.language), self.context.repository
            self.about[name] = find_type_under_test(read, repository, pair.new.rev, method)
        return self.about[name]

    def _find_error_class(self, test: SuiteTest) -> ErrorClass | None:
        known = get_measures(self.context.pair.language).errors
        if known is None or test.outcome is not Outcome.COMPILE_ERROR or test.signature is None:
            return None
        return known.classify_error(test.signature)


# The scenario of mechanical fixes: a submitted suite is fixed by rules, then graded.
#
# MultiFileTest grades each answer as it is, after people fixed its mechanical errors, and after its
# model did. Here rules stand in for the people: each reads what a run said of a test, and corrects
# the file if the files of the project leave one correction. After each round the tests run again.

MOST_ROUNDS = 8
"""The most rounds of fixes of a suite; the paper's fixes average two to six lines."""


def grade_fixed_suite(
    context: TaskContext,
    case: GradingCase,
    methods: Mapping[str, TestMethod],
    ledger: Ledger | None,
) -> GradingResult:
    """Fix a suite as far as rules go, and grade the result with its fixes.

    A round that leaves the file without tests, or without any that can be run, is not taken. Raises:
    what `grade_suite` raises.
    """
    assert case.patched is not None, 'a file with tests is there'
    source, project = case.patched, _open_project(context, case)
    fixes: list[SuiteFix] = []
    spent = 0.0
    graded = run_suite_tests(context, source, methods, ledger)
    for _ in range(MOST_ROUNDS):
        failures = graded.suite.failures if graded.suite is not None else ()
        fixed, new = _apply_fixes(get_fixer(context.pair.language), project, source, failures)
        if not new:
            break
        methods_or_result = find_submitted_tests(replace(case, patched=fixed), context.repository)
        if isinstance(methods_or_result, SuiteRunResult):
            break
        source, methods, fixes = fixed, methods_or_result, [*fixes, *new]
        spent += graded.cpu_seconds
        graded = run_suite_tests(context, source, methods, ledger)
    result = measure_graded_suite(context, source, methods, graded, ledger)
    return replace(
        result,
        suite=result.suite and replace(result.suite, fixes=tuple(fixes)),
        cpu_seconds=result.cpu_seconds + spent,
    )


def _open_project(context: TaskContext, case: GradingCase) -> ProjectFiles:
    """Return the files beside the submitted one, which no fix changes."""
    task = context.assignment.task
    return ProjectFiles(
        tree=get_reading(task.language).open_tree(context.repository, case.tests_rev),
        path=task.test_file,
        list_imports=get_fixer(task.language).list_bound_names_with_imports,
    )


def _apply_fixes(
    fixer: MechanicalFixer, project: ProjectFiles, source: bytes, failures: Iterable[TestFailure]
) -> tuple[bytes, list[SuiteFix]]:
    """Return the file after one fix for each cause of failures, and the fixes."""
    fixes = dict[SuiteFix, None]()
    for failure in dict.fromkeys(failures):
        fix = fixer.propose_fix(project, source, failure)
        if fix is None:
            continue
        row = SuiteFix(rule=fix.rule, text=fix.text)
        if row not in fixes and fix.source != source:  # several tests may lack one import
            source = fix.source
            fixes[row] = None
    return source, list(fixes)
