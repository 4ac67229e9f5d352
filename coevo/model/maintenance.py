"""Whole-file maintenance: what a change asks of each test of a file, by the test's label.

A task of the family `maintenance` starts with the old test file on the new code. Tests that the
change breaks have to be updated, and the others have to stay. Each test of either file is scored
once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from coevo.model.choices import Choice
from coevo.model.column import Column
from coevo.model.words import Label


class ExpectedAction(Choice):
    """The action that a change asks for on a test, by the test's label."""

    UPDATE = 'update', 'the change breaks it: it has to pass again'
    KEEP = 'keep', 'the change leaves it alone: it has to stay as it is'
    REFINE = 'refine', 'it passes either way, and its developers rewrote it: it has to stay'
    REMOVE = 'remove', 'the change breaks it, and its developers deleted it: it may go'
    ADD = 'add', 'its developers added it'
    NONE = 'none', 'nothing: no label says what should become of it'


_ACTIONS: Mapping[Label, ExpectedAction] = {
    Label.UPDATE: ExpectedAction.UPDATE,
    Label.FIXTURE_UPDATE: ExpectedAction.UPDATE,
    Label.UNAFFECTED: ExpectedAction.KEEP,
    Label.FIXTURE_REFINEMENT: ExpectedAction.KEEP,
    Label.EXTENSION: ExpectedAction.REFINE,
    Label.REFINEMENT: ExpectedAction.REFINE,
    Label.OBSOLETE: ExpectedAction.REMOVE,
    Label.GENERATION: ExpectedAction.ADD,
    Label.REDUNDANT: ExpectedAction.ADD,
}
"""Labels that are missing here ask for nothing: `repair` and `cured_by_code` (broken before the
change), `broken_by_change` (broken after it), and `retired` (deleted for no reason that the runs
show).
"""

STAYING = (ExpectedAction.KEEP, ExpectedAction.REFINE)


def find_expected_action(label: Label | None, *, same_text: bool) -> ExpectedAction:
    """Return the action that a label asks for.

    same_text  whether both files have the test, with the same tokens; without a label the action is
               KEEP if so, and NONE if not
    """
    if label is None:
        return ExpectedAction.KEEP if same_text else ExpectedAction.NONE
    return _ACTIONS.get(label, ExpectedAction.NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedMethod:
    """A test of the old file, of the new one, or of both."""

    old_method: Annotated[
        str | None,
        Column('The test in the old file, as `Container#method`. Null if it is not there.'),
    ]
    new_method: Annotated[
        str | None,
        Column('The test in the new file, as `Container#method`. Null if it is not there.'),
    ]
    label: Annotated[Label | None, Column('Its label. Null if it has none.')]
    expected_action: Annotated[ExpectedAction, Column('What the label asks for.')]
