"""From what was seen of a test of a maintained file to its one outcome: pure and total."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from coevo.evaluation.suites.maintained_records import MaintainedOutcome
from coevo.evaluation.suites.texts import TestText
from coevo.model.maintenance import ExpectedAction, MaintainedMethod


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedTestState:
    """What was seen of a test.

    at_start, in_gold  whether it passes there, here
    there, passes      whether the submission has it, and whether it passes there
    same_text, weaker  as in results
    """

    at_start: bool
    in_gold: bool
    there: bool
    passes: bool
    same_text: bool | None = None
    weaker: bool | None = None


def decide_maintained_outcome(
    expected_action: ExpectedAction, seen: MaintainedTestState
) -> tuple[ExpectedAction, MaintainedOutcome]:
    """What was asked of it, as runs bear out, and what became of it."""
    if expected_action is ExpectedAction.NONE:
        return expected_action, MaintainedOutcome.UNSCORED
    if expected_action is ExpectedAction.REMOVE:
        return expected_action, _decide_removed(seen)
    if not seen.in_gold:
        return expected_action, MaintainedOutcome.UNKNOWN
    if expected_action is ExpectedAction.ADD:
        return (
            expected_action,
            MaintainedOutcome.ADDED if seen.passes else MaintainedOutcome.NOT_ADDED,
        )
    if not seen.at_start:
        return ExpectedAction.UPDATE, _decide_updated(seen)
    return (
        expected_action,
        MaintainedOutcome.UNKNOWN
        if expected_action is ExpectedAction.UPDATE
        else _decide_stayed(seen),
    )


def _decide_removed(seen: MaintainedTestState) -> MaintainedOutcome:
    if seen.at_start:
        return MaintainedOutcome.UNKNOWN
    if not seen.there:
        return MaintainedOutcome.DELETED_RIGHTLY
    return MaintainedOutcome.REWRITTEN if seen.passes else MaintainedOutcome.MISSED


def _decide_updated(seen: MaintainedTestState) -> MaintainedOutcome:
    if not seen.there:
        return MaintainedOutcome.DELETED_WRONGLY
    return MaintainedOutcome.UPDATED if seen.passes else MaintainedOutcome.MISSED


def _decide_stayed(seen: MaintainedTestState) -> MaintainedOutcome:
    if not seen.there:
        return MaintainedOutcome.DELETED_WRONGLY
    if not seen.passes:
        return MaintainedOutcome.BROKEN
    if seen.weaker:
        return MaintainedOutcome.WEAKENED
    return MaintainedOutcome.KEPT if seen.same_text else MaintainedOutcome.EDITED


def find_submitted_name(
    one: MaintainedMethod, start: Mapping[str, TestText], found: Mapping[str, TestText]
) -> str | None:
    """What a test is called in a submitted file: as in gold or as it was, or under a name of its own
    with the same text.

    A name of gold's that another test had at the start is taken last: tests may be renamed in a chain.
    """
    new, old = one.new_method, one.old_method
    names = [name for name in (new, old) if name is not None and name in found]
    if old is None:
        return next((name for name in names if name not in start), None)
    mine = [name for name in names if name == old or name not in start]
    return next(iter(mine or names), None) or _find_renamed(start.get(old), start, found)


def _find_renamed(
    was: TestText | None, start: Collection[str], found: Mapping[str, TestText]
) -> str | None:
    fresh = (name for name, text in found.items() if name not in start and was is not None)
    return next((name for name in fresh if was and found[name].bare == was.bare), None)
