"""The scenario of mechanical fixes: a submitted suite is fixed by rules, then graded.

MultiFileTest grades each answer as it is, after people fixed its mechanical errors, and after its
model did. Here rules stand in for the people: each reads what a run said of a test, and corrects
the file if the files of the project leave one correction. After each round the tests run again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coevo.evaluation.judging.judgement import GradingResult
from coevo.evaluation.judging.task_context import GradingCase, TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.suites.judging import find_submitted_tests, grade_suite, run_suite_tests
from coevo.evaluation.suites.outcomes import SuiteRunResult
from coevo.evaluation.suites.records import SuiteFix
from coevo.languages.fixes import ProjectFiles
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
    fixes: list[SuiteFix] = []
    spent = 0.0
    for _ in range(MOST_ROUNDS):
        assert case.patched is not None, 'a file with tests is there'
        graded = run_suite_tests(context, case.patched, methods, ledger)
        spent += graded.cpu_seconds
        fixed, new = _apply_fixes(case, context, graded.suite)
        found = find_submitted_tests(fixed, context.repository) if new else None
        if found is None or isinstance(found, SuiteRunResult):
            break
        case, methods, fixes = fixed, found, [*fixes, *new]
    assert case.patched is not None, 'fixes remove no file'
    result = grade_suite(context, case.patched, methods, ledger)
    return replace(
        result,
        suite=result.suite and replace(result.suite, fixes=tuple(fixes)),
        cpu_seconds=result.cpu_seconds + spent,
    )


def _apply_fixes(
    case: GradingCase, context: TaskContext, seen: SuiteRunResult | None
) -> tuple[GradingCase, list[SuiteFix]]:
    """Return the case after one fix for each cause of failures, and the fixes."""
    task = context.assignment.task
    fixer = get_fixer(task.language)
    if fixer is None or seen is None or case.patched is None:
        return case, []
    tree = get_reading(task.language).open_tree(context.repository, case.tests_rev)
    project = ProjectFiles(tree=tree, path=task.test_file, list_imports=fixer.list_imports)
    source, fixes = case.patched, dict[SuiteFix, None]()
    for failure in dict.fromkeys(seen.failures):
        fix = fixer.propose_fix(project, source, failure)
        if fix is None:
            continue
        row = SuiteFix(rule=fix.rule, text=fix.text)
        if row not in fixes and fix.source != source:  # several tests may lack one import
            source = fix.source
            fixes[row] = None
    return replace(case, patched=source), list(fixes)
