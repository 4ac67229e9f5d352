"""How undone changes are counted, of which each may have been undone in several ways."""

from __future__ import annotations

import pytest

from coevo.evaluation.assignments import Target
from coevo.evaluation.measuring.adequacy import count_noticed_undos, list_undoable_changes
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.worth import Detections
from coevo.model.dependencies import Revised
from coevo.model.quality import ReversalRow, ReversalStatus
from coevo.model.words import Outcome, Walk

ZERO, ONE, OTHER = 'int tax() { return 0; }', 'int tax() { return 1; }', 'int price()'


def row(declaration: str, outcome: Outcome) -> ReversalRow:
    return ReversalRow(
        repo='local/shop',
        walk=Walk.PARENTS,
        pair_id='p',
        method_id='m',
        declaration=declaration,
        file='Shop.java',
        start_line=9 if declaration == OTHER else 5,
        revised=Revised.INSERTED,
        status=ReversalStatus.UNDETECTED if outcome is Outcome.PASS else ReversalStatus.DETECTED,
        outcome=outcome,
        signature=None,
    )


def counted(gold: dict[str, Outcome], pred: dict[str, Outcome], target: Target) -> Detections:
    found = count_noticed_undos(
        GoldMethod(target=target, reversals=tuple(row(*each) for each in gold.items())),
        [row(*each) for each in pred.items()],
    )
    assert found is not None
    return found


@pytest.fixture
def target() -> Target:
    """None is asked of it."""
    return None  # type: ignore[return-value]


FAIL, ERROR, PASS = Outcome.FAIL, Outcome.ERROR, Outcome.PASS


@pytest.mark.parametrize(
    ('gold', 'pred', 'both', 'both_ran'),
    [
        ({ZERO: FAIL, ONE: ERROR}, {ZERO: FAIL, ONE: FAIL}, 1, 1),
        # one of several plain values is noticed by chance, such as by a test for another one
        ({ZERO: FAIL, ONE: FAIL}, {ZERO: FAIL, ONE: PASS}, 1, 0),
        # the value that gold takes for the right one is asked of nobody
        ({ZERO: FAIL, ONE: PASS}, {ZERO: FAIL, ONE: PASS}, 1, 1),
        ({ZERO: FAIL, ONE: PASS}, {ZERO: PASS, ONE: FAIL}, 0, 0),
        ({ZERO: Outcome.COMPILE_ERROR}, {ZERO: FAIL}, 1, 0),
        # one change of two is enough
        ({ZERO: FAIL, OTHER: FAIL}, {ZERO: PASS, OTHER: FAIL}, 1, 1),
    ],
)
def test_a_change_is_noticed_if_all_values_that_gold_notices_are(
    target: Target,
    gold: dict[str, Outcome],
    pred: dict[str, Outcome],
    both: int,
    both_ran: int,
) -> None:
    found = counted(gold, pred, target)

    assert (found.both, found.both_ran) == (both, both_ran)
    assert found.count == 1 + (OTHER in gold)


def test_values_that_were_not_run_belong_to_a_change_that_was(target: Target) -> None:
    found = counted({ZERO: FAIL, ONE: PASS, OTHER: PASS}, {ZERO: FAIL}, target)

    assert (found.count, found.not_run) == (1, 1)
    assert (found.gold, found.gold_ran, found.both_ran) == (1, 1, 1)


def test_every_value_that_gold_was_run_with_is_run_again(target: Target) -> None:
    gold = GoldMethod(target=target, reversals=(row(ZERO, FAIL), row(ONE, PASS)))
    assert {change[-1] for change in list_undoable_changes(gold)} == {ZERO, ONE}
