"""What a submitted test is worth beside the developer's: the scores of one test method.

Each is a share from 0 to 1, or None (⊥) where it could not be measured. Those of the submitted test
are known only where it passes on the new code, Redundant included (TestEvo-Bench, §4.3, A.4 to A.6).
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.samples import Score
from coevo.evaluation.worth import Adequacy
from coevo.languages.capabilities import NOT_OFFERED
from coevo.model.quality import Coverage


def coverage_pred(row: MethodResult) -> float | None:
    """Line coverage of the task's changed dependencies by the submitted test (A.4, Eq. 1)."""
    found = _measured(row)
    return found.coverage_pred.line_coverage if found and found.coverage_pred else None


def coverage_gold(row: MethodResult) -> float | None:
    """That of the developer's test; A.6 has it ⊥ where the submitted test does not pass."""
    found = _measured(row)
    return found.coverage_gold.line_coverage if found and found.coverage_gold else None


def code_coverage_pred(row: MethodResult) -> float | None:
    """The same over the lines that have code: no braces, comments or blank lines."""
    found = _measured(row)
    return found.coverage_pred.code_coverage if found and found.coverage_pred else None


def code_coverage_gold(row: MethodResult) -> float | None:
    found = _measured(row)
    return found.coverage_gold.code_coverage if found and found.coverage_gold else None


def mutation_score_pred(row: MethodResult) -> float | None:
    """Killed by the submitted test, of the released mutants (A.5, Eq. 4)."""
    found = _measured(row)
    return _share(found.mutants.pred, found.mutants.count) if found and found.mutants else None


def mutation_score_gold(row: MethodResult) -> float | None:
    """Killed by the developer's test (A.5, Eq. 3), whatever the submitted test does (A.6)."""
    found = _measured(row)
    if found and found.mutants:
        return _share(found.mutants.gold, found.mutants.count)
    return row.mutation_gold.score if row.mutation_gold else None


def relative_kill(row: MethodResult) -> float | None:
    """Of the mutants that the developer's test kills, those that the submitted one kills, too."""
    found = _measured(row)
    return _share(found.mutants.both, found.mutants.gold) if found and found.mutants else None


def branch_coverage_pred(row: MethodResult) -> float | None:
    found = _measured(row)
    return _branches(found.coverage_pred) if found else None


def branch_coverage_gold(row: MethodResult) -> float | None:
    found = _measured(row)
    return _branches(found.coverage_gold) if found else None


def reversals_pred(row: MethodResult) -> float | None:
    """Changed declarations, undone one at a time, that the submitted test notices."""
    found = _measured(row)
    return (
        _share(found.reversals.pred, found.reversals.count) if found and found.reversals else None
    )


def reversals_gold(row: MethodResult) -> float | None:
    found = _measured(row)
    return (
        _share(found.reversals.gold, found.reversals.count) if found and found.reversals else None
    )


def success_strict(row: MethodResult) -> float | None:
    """1 or 0 where it is known whether a success is a strict one; any other outcome is none."""
    return _flag(row.success_strict)


def vacuous(row: MethodResult) -> float | None:
    """Of a test that passes: whether it can tell nothing of the change."""
    return _flag(row.vacuous)


def oracle_preserved(row: MethodResult) -> float | None:
    """Of an update: whether it kills all that the old test killed in unchanged lines."""
    return _flag(row.oracle_preserved)


def oracle_preservation(row: MethodResult) -> float | None:
    """Of the mutants of unchanged lines that the old test killed, those that are killed still."""
    found = _measured(row)
    if not found or not found.oracle:
        return None
    return _share(found.oracle.count - found.oracle.lost, found.oracle.count)


def mutants(row: MethodResult) -> float | None:
    """How many mutants the submitted test was run against."""
    found = _measured(row)
    return float(found.mutants.count) if found and found.mutants else None


def smells_pred(row: MethodResult) -> float | None:
    """How many kinds of test smells the submitted test has (tsDetect, PyNose)."""
    found = _measured(row)
    return _count(found.smells_pred) if found else None


def smells_gold(row: MethodResult) -> float | None:
    found = _measured(row)
    return _count(found.smells_gold) if found else None


def _count(smells: Sequence[str]) -> float | None:
    """None where nobody looks for them in the test's language."""
    return None if NOT_OFFERED in smells else float(len(smells))


def where(condition: Score, score: Score) -> Score:
    """The score of those methods alone that have the other one as well."""
    return lambda row: None if condition(row) is None else score(row)


def _measured(row: MethodResult) -> Adequacy | None:
    return row.adequacy if row.outcome.passes_on_new else None


def _flag(value: bool | None) -> float | None:
    return None if value is None else float(value)


def _branches(found: Coverage | None) -> float | None:
    return _share(found.covered_branches, found.branches) if found else None


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
