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


def score_coverage_pred(row: MethodResult) -> float | None:
    """Line coverage of the task's changed dependencies by the submitted test (A.4, Eq. 1)."""
    adequacy = _get_adequacy(row)
    return adequacy.coverage_pred.line_coverage if adequacy and adequacy.coverage_pred else None


def score_coverage_gold(row: MethodResult) -> float | None:
    """That of the developer's test; A.6 has it ⊥ where the submitted test does not pass."""
    adequacy = _get_adequacy(row)
    return adequacy.coverage_gold.line_coverage if adequacy and adequacy.coverage_gold else None


def score_code_coverage_pred(row: MethodResult) -> float | None:
    """The same over the lines that have code: no braces, comments or blank lines."""
    adequacy = _get_adequacy(row)
    return adequacy.coverage_pred.code_coverage if adequacy and adequacy.coverage_pred else None


def score_code_coverage_gold(row: MethodResult) -> float | None:
    adequacy = _get_adequacy(row)
    return adequacy.coverage_gold.code_coverage if adequacy and adequacy.coverage_gold else None


def score_mutation_pred(row: MethodResult) -> float | None:
    """Killed by the submitted test, of the released mutants (A.5, Eq. 4)."""
    adequacy = _get_adequacy(row)
    return (
        _divide(adequacy.mutants.pred, adequacy.mutants.count)
        if adequacy and adequacy.mutants
        else None
    )


def score_mutation_gold(row: MethodResult) -> float | None:
    """Killed by the developer's test (A.5, Eq. 3), whatever the submitted test does (A.6)."""
    adequacy = _get_adequacy(row)
    if adequacy and adequacy.mutants:
        return _divide(adequacy.mutants.gold, adequacy.mutants.count)
    return row.mutation_gold.score if row.mutation_gold else None


def score_relative_kill(row: MethodResult) -> float | None:
    """Of the mutants that the developer's test kills, those that the submitted one kills, too."""
    adequacy = _get_adequacy(row)
    return (
        _divide(adequacy.mutants.both, adequacy.mutants.gold)
        if adequacy and adequacy.mutants
        else None
    )


def score_branch_coverage_pred(row: MethodResult) -> float | None:
    adequacy = _get_adequacy(row)
    return _score_branches(adequacy.coverage_pred) if adequacy else None


def score_branch_coverage_gold(row: MethodResult) -> float | None:
    adequacy = _get_adequacy(row)
    return _score_branches(adequacy.coverage_gold) if adequacy else None


def score_undos_pred(row: MethodResult) -> float | None:
    """Changed declarations, undone one at a time, that the submitted test notices."""
    adequacy = _get_adequacy(row)
    return (
        _divide(adequacy.reversals.pred, adequacy.reversals.count)
        if adequacy and adequacy.reversals
        else None
    )


def score_undos_gold(row: MethodResult) -> float | None:
    adequacy = _get_adequacy(row)
    return (
        _divide(adequacy.reversals.gold, adequacy.reversals.count)
        if adequacy and adequacy.reversals
        else None
    )


def score_strict_success(row: MethodResult) -> float | None:
    """1 or 0 where it is known whether a success is a strict one; any other outcome is none."""
    return _convert_flag(row.success_strict)


def score_vacuous(row: MethodResult) -> float | None:
    """Of a test that passes: whether it can tell nothing of the change."""
    return _convert_flag(row.vacuous)


def score_oracle_preserved(row: MethodResult) -> float | None:
    """Of an update: whether it kills all that the old test killed in unchanged lines."""
    return _convert_flag(row.oracle_preserved)


def score_oracle_preservation(row: MethodResult) -> float | None:
    """Of the mutants of unchanged lines that the old test killed, those that are killed still."""
    adequacy = _get_adequacy(row)
    if not adequacy or not adequacy.oracle:
        return None
    return _divide(adequacy.oracle.count - adequacy.oracle.lost, adequacy.oracle.count)


def count_mutants(row: MethodResult) -> float | None:
    """How many mutants the submitted test was run against."""
    adequacy = _get_adequacy(row)
    return float(adequacy.mutants.count) if adequacy and adequacy.mutants else None


def count_smells_pred(row: MethodResult) -> float | None:
    """How many kinds of test smells the submitted test has (tsDetect, PyNose)."""
    adequacy = _get_adequacy(row)
    return _count_smells(adequacy.smells_pred) if adequacy else None


def count_smells_gold(row: MethodResult) -> float | None:
    adequacy = _get_adequacy(row)
    return _count_smells(adequacy.smells_gold) if adequacy else None


def _count_smells(smells: Sequence[str]) -> float | None:
    """None where nobody looks for them in the test's language."""
    return None if NOT_OFFERED in smells else float(len(smells))


def restrict_score(condition: Score, score: Score) -> Score:
    """The score of those methods alone that have the other one as well."""
    return lambda row: None if condition(row) is None else score(row)


def _get_adequacy(row: MethodResult) -> Adequacy | None:
    return row.adequacy if row.outcome.passes_on_new else None


def _convert_flag(value: bool | None) -> float | None:
    return None if value is None else float(value)


def _score_branches(found: Coverage | None) -> float | None:
    return _divide(found.covered_branches, found.branches) if found else None


def _divide(part: int, whole: int) -> float | None:
    return part / whole if whole else None
