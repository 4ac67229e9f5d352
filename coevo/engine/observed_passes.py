"""Deciding passes of mined tests, seen from outside of the process: is a pass what it is told to be?

Three runs that agree say nothing of a test that forges its own verdict. One more run of each pass
that a track rests on is watched by the observer that watches submissions. Its doubt is no outcome:
it takes the track away and leaves the label.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Sequence

from coevo.engine.groups import Ends
from coevo.engine.groups import method_in
from coevo.engine.results import PairEvaluation
from coevo.engine.results import SelectedMethod
from coevo.engine.results import Step
from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability
from coevo.languages.conditions import Conditions
from coevo.languages.table import language_at
from coevo.languages.table import offers
from coevo.languages.table import reading_at
from coevo.languages.verdicts import Verdict
from coevo.model.labels import deciding_cells
from coevo.model.records import TestMethod
from coevo.model.words import Cell
from coevo.model.words import Outcome

# Trouble of ours is not seen twice; who forges is.
_RUNS = 2


def doubts(
    evaluation: PairEvaluation,
    selected: Sequence[SelectedMethod],
    repository: Repository,
) -> dict[str, str]:
    """By method id, why a deciding pass of it is not believed: a kind of tampering, see
    docs/trust.md; the evaluation's cost pays for it."""
    found = {}
    ends = Ends(old=evaluation.old, new=evaluation.new)
    for item in selected:
        if not offers(language_at(item.candidate.method.test_file), Capability.OBSERVE):
            continue
        for cell, method in _passes(evaluation, item):
            tests, code = ends.tests(cell).rev, ends.code(cell).rev
            conditions = _observed(evaluation, repository, tests, method)
            reason = _doubt(evaluation, (tests, code), method, conditions)
            if reason is not None:
                found[item.method_id] = reason
                break
    return found


def suite_doubt(
    evaluation: PairEvaluation, methods: Sequence[TestMethod], repository: Repository
) -> str | None:
    """Why a pass of the new revision's passing tests of one file is not believed, with whose; None if all are.

    They are watched together first, as nearly all are believed; who is doubted then is looked at alone.
    """
    if not offers(language_at(methods[0].test_file), Capability.OBSERVE):
        return None
    rev = evaluation.new.rev
    conditions = _observed(evaluation, repository, rev, methods[0])
    compiled = evaluation.built.compile(rev, rev, methods[0].module, methods=methods)
    batch = evaluation.built.run(compiled, methods, conditions)
    evaluation.cost.add(Step.RUN_OBSERVED, batch.cpu_seconds)
    for method, verdict in zip(methods, batch.verdicts, strict=True):
        if verdict is None or verdict.tampered is not None:
            reason = _doubt(evaluation, (rev, rev), method, conditions)
            if reason is not None:
                return f'{reason} {method.test_method}'
    return None


def _observed(
    evaluation: PairEvaluation, repository: Repository, tests: str, method: TestMethod
) -> Conditions:
    """tests  the revision that the method's file is of"""
    source = content(repository, tests, method.test_file) or b''
    expects = reading_at(method.test_file).expected_throws(source)
    return Conditions(override=evaluation.override, observed=True, expects=expects)


def _passes(evaluation: PairEvaluation, item: SelectedMethod) -> Iterator[tuple[Cell, TestMethod]]:
    found = evaluation.cells(item.method_id)
    for cell in deciding_cells(item.candidate.change):
        method = method_in(item.candidate, cell)
        if cell in found and found[cell].outcome is Outcome.PASS and method is not None:
            yield cell, method


def _doubt(
    evaluation: PairEvaluation,
    revs: tuple[str, str],
    method: TestMethod,
    conditions: Conditions,
) -> str | None:
    """A run that does not pass is no doubt of those that did: their agreement is judged elsewhere."""
    reason = None
    for _ in range(_RUNS):
        verdict = _run(evaluation, revs, method, conditions)
        reason = verdict.tampered if verdict is not None else None
        if reason is None:
            return None
    return reason


def _run(
    evaluation: PairEvaluation,
    revs: tuple[str, str],
    method: TestMethod,
    conditions: Conditions,
) -> Verdict | None:
    compiled = evaluation.built.compile(*revs, method.module, methods=(method,))
    batch = evaluation.built.run(compiled, [method], conditions)
    evaluation.cost.add(Step.RUN_OBSERVED, batch.cpu_seconds)
    return batch.verdicts[0]
