"""What became of each test of a file that was to be maintained."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coevo.model.choices import Choice
from coevo.model.column import Column
from coevo.model.maintenance import ExpectedAction
from coevo.model.words import Label


class MaintainedOutcome(Choice):
    """What becomes of a test that was to be maintained. Exactly one holds."""

    UPDATED = 'updated', 'it was broken at the start, and passes'
    MISSED = 'missed', 'it was broken at the start, and still is'
    KEPT = 'kept', 'its text is as at the start, and it passes'
    EDITED = 'edited', 'its text is another one, it passes, and it is not known to be weaker'
    WEAKENED = 'weakened', 'it passes, and misses mutants that it noticed as it was, and as in gold'
    BROKEN = 'broken', 'it passed at the start, and does not any more'
    DELETED_RIGHTLY = 'deleted_rightly', 'it is gone, as in gold'
    DELETED_WRONGLY = 'deleted_wrongly', 'it is gone, and had to stay'
    REWRITTEN = 'rewritten', 'gold deletes it, and it stays and passes'
    ADDED = 'added', 'gold adds a test of this name, and so does the submission; it passes'
    NOT_ADDED = 'not_added', 'gold adds a test of this name, and the submission none that passes'
    UNKNOWN = 'unknown', 'runs here do not bear its label out: outside of every figure'
    UNSCORED = 'unscored', 'no label says what should become of it'


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedResult:
    """One test of the old file, of the new one, or of both."""

    old_method: Annotated[
        str | None,
        Column('The test in the old file, as `Container#method`. Null if it is not there.'),
    ]
    new_method: Annotated[
        str | None,
        Column('The test in the new file, as `Container#method`. Null if it is not there.'),
    ]
    label: Annotated[Label | None, Column('Its label. Null if it has none.')]
    expected_action: Annotated[
        ExpectedAction,
        Column(
            'What was asked of it: `update` also where it stays in gold and fails at the start.'
        ),
    ]
    submitted: Annotated[
        str | None, Column('The test in the submitted file. Null if there is none.')
    ] = None
    outcome: Annotated[MaintainedOutcome, Column('What became of it.')]
    same_text: Annotated[
        bool | None,
        Column('Whether its tokens are those of the start. Null if one of the two files lacks it.'),
    ] = None
    weaker: Annotated[
        bool | None,
        Column(
            'Whether it misses a mutant that it noticed as it was, and as in gold; no if it and all beside '
            'it in the file are as in one of these. Null if that was not asked, or there is no such mutant.'
        ),
    ] = None
