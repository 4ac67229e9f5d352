"""What mining the demo's repository has to give, row by row: set down by hand from its sources.

A test method stands once for every pair in which it is a candidate: with its label and track, or
with the reason why it was dropped; with a label and a reason where only its track was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coevo.model.records import Label
from coevo.model.records import Stage
from coevo.model.records import Track
from flows.demo import steps


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class ExpectedMethod:
    """A test method in the pair that ends with the step: `test` is Class#method at its new end."""

    step: str
    test: str
    label: Label | None = None
    track: Track | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Loss:
    """A commit or a pair that left the funnel: the one that the step made."""

    step: str
    stage: Stage
    reason: str


TASKS = {
    Label.UPDATE: Track.UPDATE,
    Label.REPAIR: Track.REPAIR,
    Label.GENERATION: Track.GENERATION,
}


def _labelled(
    step: str, test_class: str, verdicts: dict[Label, tuple[str, ...]]
) -> Iterator[ExpectedMethod]:
    for label, names in verdicts.items():
        for name in names:
            yield ExpectedMethod(
                step=step, test=f'{test_class}#{name}', label=label, track=TASKS.get(label)
            )


def _dropped(
    step: str, test_class: str, verdicts: dict[str, tuple[str, ...]]
) -> Iterator[ExpectedMethod]:
    for reason, names in verdicts.items():
        for name in names:
            yield ExpectedMethod(step=step, test=f'{test_class}#{name}', reason=reason)


# Which ten of twelve are looked at is drawn from the ids of the commits: an edit of the history
# draws anew.
MONTHS = (
    'January',
    'February',
    'March',
    'April',
    'May',
    'June',
    'July',
    'August',
    'September',
    'October',
    'November',
    'December',
)
NOT_SAMPLED = ('knowsAugust', 'knowsJanuary')
SAMPLED = tuple(f'knows{name}' for name in MONTHS if f'knows{name}' not in NOT_SAMPLED)

METHODS = (
    *_labelled(
        steps.CHARGE,
        'harbour.TariffTest',
        {
            Label.UPDATE: ('chargesForOneZone', 'chargesForManyZones'),
            Label.REFINEMENT: ('isNeverFree', 'isAffordable'),
            Label.UNAFFECTED: ('growsWithTheZones', 'isTheSameEveryTime'),
            Label.BROKEN_BY_CHANGE: ('isEven', 'isProportional'),
        },
    ),
    *_labelled(
        steps.REFUND,
        'harbour.RefundsTest',
        {
            Label.UNAFFECTED: ('nothingComesOfNothing',),
            Label.GENERATION: ('halfIsPaidBackAWeekAhead', 'debtsAreNotPaidBack'),
            Label.REDUNDANT: ('everythingIsPaidBack', 'largePricesArePaidBack'),
        },
    ),
    *_labelled(
        steps.REFUND,
        'harbour.LateRefundsTest',
        {Label.GENERATION: ('nothingIsPaidBackTheDayBefore',)},
    ),
    *_dropped(
        steps.REFUND,
        'harbour.TurnstileTest',
        {'order_dependent': ('letsTheFirstVisitorIn', 'startsFromNothing')},
    ),
    *_labelled(
        steps.ROUND,
        'harbour.RoundingTest',
        {
            Label.CURED_BY_CODE: ('roundsHalvesUp', 'roundsNinesUp'),
            Label.UNAFFECTED: ('showsTheCurrencyFirst',),
            Label.OBSOLETE: ('showsWhatIsLeftOfAnEuro', 'showsTheSpace'),
            Label.RETIRED: ('keepsWholePrices', 'showsSomething'),
        },
    ),
    *_labelled(
        steps.CENTS,
        'harbour.CheckoutTest',
        {
            Label.FIXTURE_UPDATE: ('addsUpTickets', 'oneTicketCostsItsPrice'),
            Label.FIXTURE_REFINEMENT: ('anEmptyBasketIsFree', 'nobodyPaysForNothing'),
        },
    ),
    *_labelled(
        steps.CENTS,
        'harbour.luggage.BagTest',
        {Label.UNAFFECTED: ('smallOnesFit',), Label.UPDATE: ('adultsTakeTwentyKilos',)},
    ),
    *_labelled(steps.CENTS, 'harbour.LockerTest', {Label.UNAFFECTED: ('hasACodeOfItsOwn',)}),
    *_labelled(
        steps.RIGHT,
        'harbour.DistanceTest',
        {Label.REPAIR: ('measuresOneLeg', 'measuresALongWay')},
    ),
    *_dropped(steps.RIGHT, 'harbour.DistanceTest', {'no_source_change': ('isNothingAtHome',)}),
    *_labelled(
        steps.PLACE,
        'harbour.SeatTest',
        {
            Label.UPDATE: ('labelsTheFirstRow', 'labelsHighRows'),
            Label.OBSOLETE: ('theFirstColumnIsAtTheWindow',),
        },
    ),
    # A label that only a change of the build explains is no task.
    *(
        ExpectedMethod(
            step=steps.LEAN,
            test=f'harbour.WeightTest#{name}',
            label=Label.UPDATE,
            reason='cause_build',
        )
        for name in ('convertsGrams', 'convertsFewGrams')
    ),
    *_dropped(
        steps.BREAK,
        'harbour.BasketTest',
        {
            'tnew_cnew_unbuildable': ('countsEverybody', 'countsNobody'),
            'told_cnew_unbuildable': ('countsAdultsAlone',),
        },
    ),
    *_dropped(
        steps.MEND,
        'harbour.BasketTest',
        {
            'told_cold_unbuildable': ('countsEverybody', 'countsNobody'),
            'tnew_cold_unbuildable': ('holdsNineAtMost',),
        },
    ),
    *_dropped(
        steps.WINTER,
        'harbour.SeasonTest',
        {
            'told_cold_skipped': ('skatingStarts',),
            'told_cold_missing': ('marketsHaveNames',),
            'told_cold_fail': ('winterHasCome',),
            'told_cold_error': ('ferryIsHourly',),
            'tnew_cnew_skipped': ('swimmingStarts',),
            'tnew_cnew_missing': ('concertsHaveNames',),
            'tnew_cnew_fail': ('hasAName',),
            'tnew_cnew_error': ('ferryRuns',),
            'told_cnew_skipped': ('hatsAreWorn',),
            'told_cnew_missing': ('eventsHaveNames',),
            'tnew_cold_skipped': ('sledgesAreFast',),
            'tnew_cold_missing': ('lanternsGlow',),
        },
    ),
    *_dropped(steps.WINTER, 'harbour.LotteryTest', {'flaky': ('drawsANumber',)}),
    *_labelled(steps.OFFICE, 'harbour.OfficeTest', {Label.GENERATION: ('isOpenAtNoon',)}),
    *_dropped(
        steps.OFFICE,
        'harbour.OfficeTest',
        {'tnew_cnew_compile_error': ('opensInTheMorning', 'closesInTheEvening')},
    ),
    *_labelled(steps.HOURS, 'harbour.OfficeTest', {Label.REPAIR: ('opensInTheMorning',)}),
    *_dropped(
        steps.HOURS, 'harbour.OfficeTest', {'told_cold_compile_error': ('closesInTheEvening',)}
    ),
    *_labelled(steps.EXTRACT, 'harbour.HolidaysTest', {Label.UNAFFECTED: SAMPLED}),
    *_dropped(steps.EXTRACT, 'harbour.HolidaysTest', {'not_sampled': NOT_SAMPLED}),
    *(
        method
        for step in (steps.POLITE, steps.LOCAL, steps.RECONCILE)
        for method in _labelled(step, 'harbour.GreetingTest', {Label.UPDATE: ('greets',)})
    ),
)

LOSSES = (
    Loss(step=steps.ROOT, stage=Stage.WALK, reason='root_commit'),
    Loss(step=steps.DOCUMENT, stage=Stage.WALK, reason='no_code_change'),
    Loss(step=steps.COMMENT, stage=Stage.PAIR, reason='comments_or_formatting_only'),
    Loss(step=steps.EXAMPLE, stage=Stage.PAIR, reason='no_source_or_test_change'),
    Loss(step=steps.MERGE, stage=Stage.WALK, reason='merge_without_change'),
)
