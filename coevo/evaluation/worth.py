"""The adequacy of a test that passes: coverage, mutants, undone changes, and its oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coevo.model.column import Column
from coevo.model.quality import Coverage, PitTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Detections:
    """The edits of the new code that the submitted test and the gold test notice.

    A test notices an edit if it does not pass with it. `both` counts the intersection. Gold's
    figures are those of the snapshot, counted on the same edits.
    """

    count: Annotated[
        int, Column('Changes of the new code that the tests were run with.', unit='changes')
    ]
    pred: Annotated[int, Column('Changes that the submitted test notices.', unit='changes')]
    gold: Annotated[int, Column('Changes that the gold test notices.', unit='changes')]
    both: Annotated[int, Column('Changes that both notice.', unit='changes')]
    not_run: Annotated[int, Column('Changes that were not run.', unit='changes')] = 0
    gold_ran: Annotated[
        int | None,
        Column(
            'Of those that gold notices, those with which it ran and failed, so that it '
            'did more than not compile. Null if that is not known.',
            unit='changes',
        ),
    ] = None
    both_ran: Annotated[
        int | None,
        Column(
            'Of these, those with which the submitted test ran and failed. Null if that '
            'is not known.',
            unit='changes',
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OraclePreservation:
    """The mutants that an update or extension kills, beside those that the old test killed.

    The mutants are those of unchanged lines of changed dependencies that the old test kills on the
    old code.
    """

    count: Annotated[
        int,
        Column(
            'Mutants of unchanged lines that the old test kills on the old code.', unit='mutants'
        ),
    ]
    lost: Annotated[
        int, Column('Of these, those that the updated test no longer kills.', unit='mutants')
    ]
    not_run: Annotated[int, Column('Mutants that were not run.', unit='mutants')] = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PitKills:
    """PIT's mutants of the changed methods that the submitted test and the gold test kill.

    They are advisory: PIT's minions run the submitted test and report their own kills, so a test
    could claim any number. No outcome and no flag follows from them.
    """

    count: Annotated[
        int | None,
        Column(
            'Mutants of PIT that both tests were run with. Null if neither is known.',
            unit='mutants',
        ),
    ] = None
    pred: Annotated[
        int | None,
        Column(
            'Mutants that the submitted test kills, as PIT says. Null if not known.', unit='mutants'
        ),
    ] = None
    gold: Annotated[
        int | None,
        Column('Mutants that the gold test kills, as PIT says. Null if not known.', unit='mutants'),
    ] = None
    trouble_pred: Annotated[
        PitTrouble | None,
        Column('Why nothing is known of the submitted test. Null if something is.'),
    ] = None
    trouble_gold: Annotated[
        PitTrouble | None, Column('Why nothing is known of the gold test. Null if something is.')
    ] = None
    cpu_seconds: Annotated[float, Column('Processor time that PIT took.', unit='seconds')] = 0.0

    @property
    def may_be_known_later(self) -> bool:
        """True if coevo's own trouble kept PIT from an answer, so that another try may give one."""
        return PitTrouble.TROUBLE in (self.trouble_pred, self.trouble_gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class Adequacy:
    """The adequacy of a submitted test that passes on the new code, and gold's; None: unknown."""

    executes_delta: Annotated[
        bool | None, Column('Whether the test executes a changed dependency. Null if unknown.')
    ] = None
    reaches_assertion: Annotated[
        bool | None,
        Column('Whether it executes an assertion of its own or of a helper. Null if unknown.'),
    ] = None
    coverage_pred: Annotated[
        Coverage | None,
        Column('What the submitted test covers of the dependencies of the task. Null if unknown.'),
    ] = None
    coverage_gold: Annotated[
        Coverage | None, Column('What the gold test covers of them. Null if unknown.')
    ] = None
    mutants: Annotated[
        Detections | None,
        Column('How many of the released mutants each test notices. Null if unknown.'),
    ] = None
    reversals: Annotated[
        Detections | None,
        Column(
            'How many parts of the change each test notices, if they are undone alone. '
            'Null if unknown.'
        ),
    ] = None
    oracle: Annotated[
        OraclePreservation | None,
        Column(
            'Which mutants an updated test no longer kills, though the old one did. Null '
            'for other tracks, or if unknown.'
        ),
    ] = None
    smells_pred: Annotated[
        tuple[str, ...],
        Column(
            'Test smells of the submitted test, by the names of tsDetect or PyNose; `not_offered` '
            'alone if nobody looks for them in the language.'
        ),
    ] = ()
    smells_gold: Annotated[tuple[str, ...], Column('Test smells of the gold test.')] = ()
    cpu_seconds: Annotated[
        float, Column('Processor time of these measurements.', unit='seconds')
    ] = 0.0
    pit: Annotated[
        PitKills | None,
        Column(
            'What PIT says of both tests; a second opinion that decides nothing. Null if '
            'it was not asked.'
        ),
    ] = None
