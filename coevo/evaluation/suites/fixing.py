"""The scenario of mechanical fixes: a submitted suite is fixed by rules, then graded.

MultiFileTest grades each answer as it is, after people fixed its mechanical errors, and after its
model did. Here rules stand in for the people: each reads what a run said of a test, and corrects
the file if the files of the project leave one correction. After each round the tests run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.judging.task_context import GradingCase, TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.suites.judging import (
    find_submitted_tests,
    measure_graded_suite,
    run_suite_tests,
)
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import SuiteFix
from coevo.languages.fixes import MechanicalFixer, ProjectFiles, TestFailure
from coevo.languages.table import get_fixer, get_reading
from coevo.model.records import TestMethod

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
