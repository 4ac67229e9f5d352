"""What becomes of a test of a maintained file: one outcome, whatever was seen, and which test it is."""

from __future__ import annotations

from itertools import product

import pytest

from coevo.evaluation.suites.maintenance import (
    MaintainedTestState,
    confirm_action_and_decide_outcome,
    find_submitted_name,
)
from coevo.evaluation.suites.texts import TestText
from coevo.model.families import ExpectedAction, MaintainedMethod, find_expected_action
from coevo.model.labels import TABLE, TRACKS
from coevo.model.records import TestMethod
from coevo.model.words import Label


def seen(
    flags: str, *, same: bool | None = None, weaker: bool | None = None
) -> MaintainedTestState:
    """flags  of `start`, `gold`, `there`, `passes`: those that hold."""
    held = flags.split()
    return MaintainedTestState(
        at_start='start' in held,
        in_gold='gold' in held,
        there='there' in held or 'passes' in held,
        passes='passes' in held,
        same_text=same,
        weaker=weaker,
    )


@pytest.mark.parametrize(
    ('expected_action', 'facts', 'asked', 'outcome'),
    [
        ('update', seen('gold passes'), 'update', 'updated'),
        ('update', seen('gold there'), 'update', 'missed'),
        ('update', seen('gold'), 'update', 'deleted_wrongly'),
        # nobody has to update what is not broken, or what gold cannot mend here
        ('update', seen('start gold passes'), 'update', 'unknown'),
        ('update', seen('passes'), 'update', 'unknown'),
        ('keep', seen('start gold passes', same=True), 'keep', 'kept'),
        ('keep', seen('start gold passes', same=False), 'keep', 'edited'),
        ('keep', seen('start gold passes', same=False, weaker=False), 'keep', 'edited'),
        ('keep', seen('start gold passes', same=True, weaker=True), 'keep', 'weakened'),
        ('keep', seen('start gold there', same=True), 'keep', 'broken'),
        ('keep', seen('start gold'), 'keep', 'deleted_wrongly'),
        ('keep', seen('start passes', same=True), 'keep', 'unknown'),
        # an import that the whole file needs breaks it at the start
        ('keep', seen('gold there', same=True), 'update', 'missed'),
        ('keep', seen('gold passes', same=True), 'update', 'updated'),
        ('refine', seen('start gold passes', same=False), 'refine', 'edited'),
        ('remove', seen(''), 'remove', 'deleted_rightly'),
        ('remove', seen('there'), 'remove', 'missed'),
        ('remove', seen('passes'), 'remove', 'rewritten'),
        ('remove', seen('start'), 'remove', 'unknown'),
        ('add', seen('gold passes'), 'add', 'added'),
        ('add', seen('gold there'), 'add', 'not_added'),
        ('add', seen('passes'), 'add', 'unknown'),
        ('none', seen('start gold passes', same=True), 'none', 'unscored'),
    ],
)
def test_maintained_outcome_follows_from_expected_action_and_test_state(
    expected_action: str, facts: MaintainedTestState, asked: str, outcome: str
) -> None:
    assert confirm_action_and_decide_outcome(ExpectedAction(expected_action), facts) == (
        asked,
        outcome,
    )


def test_every_combination_of_test_state_flags_has_an_outcome() -> None:
    flags = ('start', 'gold', 'there', 'passes')
    for expected_action, held in product(ExpectedAction, product((True, False), repeat=4)):
        facts = seen(' '.join(flag for flag, holds in zip(flags, held, strict=True) if holds))
        asked, outcome = confirm_action_and_decide_outcome(expected_action, facts)
        assert asked in (expected_action, ExpectedAction.UPDATE)
        assert (outcome == 'unscored') == (expected_action is ExpectedAction.NONE)


def test_labels_of_tests_broken_without_the_change_expect_no_action() -> None:
    asks_nothing = {
        one for one in Label if find_expected_action(one, same_text=True) is ExpectedAction.NONE
    }
    assert asks_nothing == {'repair', 'cured_by_code', 'broken_by_change', 'retired'}
    assert {row.label for row in TABLE} == set(Label)
    assert (
        find_expected_action(next(one for one in TRACKS if one == 'update'), same_text=False)
        is ExpectedAction.UPDATE
    )
    assert [find_expected_action(None, same_text=same) for same in (True, False)] == [
        ExpectedAction.KEEP,
        ExpectedAction.NONE,
    ]


def texts(**bodies: str) -> dict[str, TestText]:
    return {
        name: TestText(
            method=TestMethod(
                module='.', test_file='t', test_class='T', test_method=name, parameters=()
            ),
            source=body,
            hash=f'{name} {body}',
            bare=body,
        )
        for name, body in bodies.items()
    }


def method(old: str | None, new: str | None) -> MaintainedMethod:
    return MaintainedMethod(
        old_method=old, new_method=new, label=None, expected_action=ExpectedAction.KEEP
    )


@pytest.mark.parametrize(
    ('old', 'new', 'found', 'name'),
    [
        ('a', 'a', {'a': '1', 'b': '2'}, 'a'),
        ('a', 'z', {'z': '9', 'b': '2'}, 'z'),
        ('a', 'z', {'a': '9', 'b': '2'}, 'a'),
        # renamed in a chain: a to b, b to c, by gold and by nobody
        ('a', 'b', {'b': '1', 'c': '2'}, 'b'),
        ('b', 'c', {'b': '1', 'c': '2'}, 'c'),
        ('a', 'b', {'a': '1', 'b': '2'}, 'a'),
        ('b', 'c', {'a': '1', 'b': '2'}, 'b'),
        # under a name of the submission's own
        ('a', 'a', {'x': '1', 'b': '2'}, 'x'),
        ('a', 'a', {'x': '3', 'b': '2'}, None),
        ('a', None, {'b': '1'}, None),
        (None, 'n', {'a': '1', 'n': '5'}, 'n'),
        (None, 'b', {'a': '1', 'b': '2'}, None),
    ],
)
def test_submitted_test_is_found_by_old_or_new_name_or_by_its_text(
    old: str | None, new: str | None, found: dict[str, str], name: str | None
) -> None:
    start = texts(a='1', b='2')
    assert find_submitted_name(method(old, new), start, texts(**found)) == name
