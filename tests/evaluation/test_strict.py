"""What follows from an outcome and an adequacy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from coevo.evaluation.measuring.strict import is_strict_success, is_vacuous, preserves_oracle
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.worth import Adequacy, Detections, OraclePreservation
from coevo.model.quality import Mutation
from coevo.model.words import Outcome

NOTICED = Detections(count=3, pred=2, gold=1, both=1)
OTHERS = Detections(count=3, pred=2, gold=1, both=0)
RAN = Detections(count=3, pred=2, gold=2, both=2, gold_ran=1, both_ran=1)
NAMED = Detections(count=3, pred=2, gold=2, both=2, gold_ran=1, both_ran=0)
NAMED_BY_GOLD = Detections(count=3, pred=2, gold=2, both=2, gold_ran=0, both_ran=0)
BY_NOBODY = Detections(count=3, pred=2, gold=0, both=0)


def adequacy(**others: Any) -> Adequacy:
    told = {'executes_delta': True, 'reaches_assertion': True, 'reversals': NOTICED}
    return Adequacy(**(told | others))


@pytest.mark.parametrize(
    ('others', 'strict', 'empty'),
    [
        ({}, True, False),
        ({'executes_delta': False}, False, True),
        ({'reaches_assertion': False}, False, True),
        ({'reversals': OTHERS}, False, False),
        # what gold does not notice either is nobody's fault
        ({'reversals': BY_NOBODY}, None, False),
        ({'reversals': None}, None, False),
        # where nothing could be undone, mutants that gold kills decide
        ({'reversals': None, 'mutants': RAN}, True, False),
        ({'reversals': BY_NOBODY, 'mutants': RAN}, True, False),
        ({'reversals': None, 'mutants': NAMED}, False, False),
        ({'executes_delta': None}, None, None),
        ({'executes_delta': None, 'reaches_assertion': False}, False, True),
        ({'reversals': None, 'executes_delta': False}, False, True),
        # a reversal can be noticed in the text of a source, a mutant too, but who does so kills one
        ({'mutants': NOTICED}, True, False),
        ({'mutants': OTHERS}, False, False),
        ({'mutants': BY_NOBODY}, True, False),
        # that a test no longer compiles says which names it has, and nothing of what they do
        ({'mutants': RAN, 'reversals': NAMED_BY_GOLD}, True, False),
        ({'mutants': NAMED, 'reversals': NAMED_BY_GOLD}, False, False),
        ({'mutants': RAN, 'reversals': RAN}, True, False),
        ({'mutants': RAN, 'reversals': NAMED}, False, False),
        ({'mutants': NAMED_BY_GOLD, 'reversals': RAN}, True, False),
        # where gold says no more, nobody can be asked for more
        ({'mutants': NAMED_BY_GOLD, 'reversals': NAMED_BY_GOLD}, None, False),
        ({'reversals': NAMED_BY_GOLD}, None, False),
    ],
)
def test_strict_success_detects_what_gold_detects(
    others: dict[str, Any], strict: bool | None, empty: bool | None
) -> None:
    found = adequacy(**others)

    assert is_strict_success(TaskOutcome.SUCCESS, found, None, 0) is strict
    assert is_vacuous(TaskOutcome.SUCCESS, found) is empty
    assert is_vacuous(TaskOutcome.REDUNDANT, found) is empty


def test_other_outcome_than_success_is_no_strict_success() -> None:
    assert is_strict_success(TaskOutcome.REDUNDANT, adequacy(), None, 0) is False
    assert is_strict_success(TaskOutcome.EXEC_FAIL, None, None, 0) is False
    assert is_strict_success(TaskOutcome.INFRA, None, None, 0) is None
    assert is_strict_success(TaskOutcome.SUCCESS, None, None, 0) is None
    assert is_vacuous(TaskOutcome.EXEC_FAIL, adequacy()) is None
    assert is_vacuous(TaskOutcome.EXEC_FAIL, adequacy(), Outcome.FAIL) is None


@pytest.mark.parametrize(
    ('old', 'vacuous'),
    [(Outcome.FAIL, False), (Outcome.ERROR, False), (Outcome.COMPILE_ERROR, True), (None, True)],
)
def test_test_that_fails_on_the_old_code_by_running_is_not_vacuous(
    old: Outcome | None, vacuous: bool
) -> None:
    no_dependency = adequacy(executes_delta=False)
    assert is_vacuous(TaskOutcome.SUCCESS, no_dependency, old) is vacuous
    no_assertion = adequacy(reaches_assertion=False)
    assert is_vacuous(TaskOutcome.SUCCESS, no_assertion, old) is True


def test_vacuous_needs_a_known_adequacy() -> None:
    assert is_vacuous(TaskOutcome.SUCCESS, None) is None


def test_strict_success_is_unknown_if_mutants_killed_by_gold_were_not_run() -> None:
    kills = Mutation(
        emitted=9, compile_failed=0, redundant=0, capped_out=0, not_checked=0, count=8,
        equal_compiled=0, not_run=0, killed=8,
    )  # fmt: skip
    assert is_strict_success(TaskOutcome.SUCCESS, adequacy(), kills, 0) is None
    assert is_strict_success(TaskOutcome.SUCCESS, adequacy(mutants=NOTICED), kills, 0) is True
    assert is_strict_success(TaskOutcome.SUCCESS, adequacy(mutants=OTHERS), kills, 0) is False
    assert is_strict_success(TaskOutcome.SUCCESS, adequacy(), replace(kills, killed=0), 0) is True


def test_patch_that_breaks_a_neighbour_is_no_strict_success() -> None:
    assert is_strict_success(TaskOutcome.SUCCESS, adequacy(), None, 1) is False
    assert is_strict_success(TaskOutcome.SUCCESS, None, None, 1) is False
    assert is_strict_success(TaskOutcome.SUCCESS, adequacy(), None, None) is None


def test_oracle_is_preserved_if_no_detection_is_lost() -> None:
    assert preserves_oracle(adequacy(oracle=OraclePreservation(count=2, lost=0))) is True
    assert preserves_oracle(adequacy(oracle=OraclePreservation(count=2, lost=1))) is False
    assert preserves_oracle(adequacy(oracle=OraclePreservation(count=0, lost=0))) is None
    assert preserves_oracle(adequacy()) is None
    assert preserves_oracle(None) is None
