"""Confirm the deciding passes of mined tests by an observer outside of the test process.

A test that forges its own verdict does so in all three runs alike. Each pass that a track depends
on is therefore run again under the observer that also watches submissions. If the observer doubts
the pass, the method loses its track but keeps its label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coevo.engine.groups import BuiltRevisions, get_method_in_cell, list_cells_of_candidate
from coevo.engine.results import PairEvaluation, SelectedMethod, Step
from coevo.git.repository import Repository, load_content
from coevo.languages.capabilities import Capability
from coevo.languages.conditions import RunConditions
from coevo.languages.table import detect_file_language, get_reading_of_file, offers_capability
from coevo.languages.verdicts import Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Cell, Outcome

# A doubt must occur in this many runs: a failure of coevo hardly repeats, a forged pass does.
_RUNS = 2


def rerun_and_find_doubts(
    evaluation: PairEvaluation,
    selected: Sequence[SelectedMethod],
    repository: Repository,
) -> dict[str, str]:
    """Run the deciding passes again under the observer, and return why one of them is doubted.

    The reasons are by method id; a confirmed method has none, and neither has a method whose
    language has no observer. A reason is a kind of tampering, see docs/trust.md. The CPU time is
    counted as a cost.
    """
    reasons = {}
    ends = BuiltRevisions(old=evaluation.old, new=evaluation.new)
    for item in selected:
        if not offers_capability(
            detect_file_language(item.candidate.method.test_file), Capability.OBSERVE
        ):
            continue
        for cell, method in _list_passes(evaluation, item):
            tests, code = ends.get_tests_build(cell).rev, ends.get_code_build(cell).rev
            conditions = _make_observing_conditions(evaluation, repository, tests, method)
            reason = _find_doubt(evaluation, (tests, code), method, conditions)
            if reason is not None:
                reasons[item.method_id] = reason
                break
    return reasons


def rerun_and_find_suite_doubt(
    evaluation: PairEvaluation, methods: Sequence[TestMethod], repository: Repository
) -> str | None:
    """Run the passing tests of a test file at the new revision again under the observer.

    All of them run together first, since nearly always none is doubted. A test that is doubted, or
    has no verdict, then runs alone. Return the reason and the test's name for the first doubted
    test; None without one, or if the language has no observer.
    """
    if not offers_capability(detect_file_language(methods[0].test_file), Capability.OBSERVE):
        return None
    rev = evaluation.new.rev
    conditions = _make_observing_conditions(evaluation, repository, rev, methods[0])
    compiled = evaluation.built.compile(rev, rev, methods[0].module, methods=methods)
    batch = evaluation.built.run(compiled, methods, conditions)
    evaluation.cost.add(Step.RUN_OBSERVED, batch.cpu_seconds)
    for method, verdict in zip(methods, batch.verdicts, strict=True):
        if verdict is None or verdict.tampered is not None:
            reason = _find_doubt(evaluation, (rev, rev), method, conditions)
            if reason is not None:
                return f'{reason} {method.test_method}'
    return None


def _make_observing_conditions(
    evaluation: PairEvaluation, repository: Repository, tests: str, method: TestMethod
) -> RunConditions:
    """Return the conditions of an observed run.

    tests  the revision of the method's test file
    """
    source = load_content(repository, tests, method.test_file) or b''
    expects = get_reading_of_file(method.test_file).list_expected_throws(source)
    return RunConditions(override=evaluation.override, observed=True, expects=expects)


def _list_passes(
    evaluation: PairEvaluation, item: SelectedMethod
) -> Iterator[tuple[Cell, TestMethod]]:
    """Yield the deciding cells in which a method passes, with the method as it is there."""
    results = evaluation.get_cells(item.method_id)
    for cell in list_cells_of_candidate(item.candidate):
        method = get_method_in_cell(item.candidate, cell)
        if cell in results and results[cell].outcome is Outcome.PASS and method is not None:
            yield cell, method


def _find_doubt(
    evaluation: PairEvaluation,
    revs: tuple[str, str],
    method: TestMethod,
    conditions: RunConditions,
) -> str | None:
    """Return why a pass is doubted in each of the observed runs; None if one run does not doubt it.

    A run that fails raises no doubt: whether runs agree is checked elsewhere.
    """
    reason = None
    for _ in range(_RUNS):
        verdict = _run_observed(evaluation, revs, method, conditions)
        reason = verdict.tampered if verdict is not None else None
        if reason is None:
            return None
    return reason


def _run_observed(
    evaluation: PairEvaluation,
    revs: tuple[str, str],
    method: TestMethod,
    conditions: RunConditions,
) -> Verdict | None:
    compiled = evaluation.built.compile(*revs, method.module, methods=(method,))
    batch = evaluation.built.run(compiled, [method], conditions)
    evaluation.cost.add(Step.RUN_OBSERVED, batch.cpu_seconds)
    return batch.verdicts[0]
