"""What mining the Java history has to give, row by row: set down by hand from its sources."""

from __future__ import annotations

from coevo.model.words import Label, Stage
from flows.demo.expected import ExpectedMethod, Loss, expect_dropped, expect_labelled
from flows.demo.harbour import steps

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
    *expect_labelled(
        steps.CHARGE,
        'harbour.TariffTest',
        {
            Label.UPDATE: ('chargesForOneZone', 'chargesForManyZones'),
            Label.REFINEMENT: ('isNeverFree', 'isAffordable'),
            Label.UNAFFECTED: ('growsWithTheZones', 'isTheSameEveryTime'),
            Label.BROKEN_BY_CHANGE: ('isEven', 'isProportional'),
        },
    ),
    *expect_labelled(
        steps.REFUND,
        'harbour.RefundsTest',
        {
            Label.UNAFFECTED: ('nothingComesOfNothing',),
            Label.GENERATION: ('halfIsPaidBackAWeekAhead', 'debtsAreNotPaidBack'),
            Label.REDUNDANT: ('everythingIsPaidBack', 'largePricesArePaidBack'),
        },
    ),
    *expect_labelled(
        steps.REFUND,
        'harbour.LateRefundsTest',
        {Label.GENERATION: ('nothingIsPaidBackTheDayBefore',)},
    ),
    *expect_dropped(
        steps.REFUND,
        'harbour.TurnstileTest',
        {'order_dependent': ('letsTheFirstVisitorIn', 'startsFromNothing')},
    ),
    *expect_labelled(
        steps.ROUND,
        'harbour.RoundingTest',
        {
            Label.CURED_BY_CODE: ('roundsHalvesUp', 'roundsNinesUp'),
            Label.UNAFFECTED: ('showsTheCurrencyFirst',),
            Label.OBSOLETE: ('showsWhatIsLeftOfAnEuro', 'showsTheSpace'),
            Label.RETIRED: ('keepsWholePrices', 'showsSomething'),
        },
    ),
    *expect_labelled(
        steps.CENTS,
        'harbour.CheckoutTest',
        {
            Label.FIXTURE_UPDATE: ('addsUpTickets', 'oneTicketCostsItsPrice'),
            Label.FIXTURE_REFINEMENT: ('anEmptyBasketIsFree', 'nobodyPaysForNothing'),
        },
    ),
    *expect_labelled(
        steps.CENTS,
        'harbour.luggage.BagTest',
        {Label.UNAFFECTED: ('smallOnesFit',), Label.UPDATE: ('adultsTakeTwentyKilos',)},
    ),
    *expect_labelled(steps.CENTS, 'harbour.LockerTest', {Label.UNAFFECTED: ('hasACodeOfItsOwn',)}),
    *expect_labelled(
        steps.RIGHT,
        'harbour.DistanceTest',
        {Label.REPAIR: ('measuresOneLeg', 'measuresALongWay')},
    ),
    *expect_dropped(
        steps.RIGHT, 'harbour.DistanceTest', {'no_source_change': ('isNothingAtHome',)}
    ),
    *expect_labelled(
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
    *expect_dropped(
        steps.BREAK,
        'harbour.BasketTest',
        {
            't_new_c_new_unbuildable': ('countsEverybody', 'countsNobody'),
            't_old_c_new_unbuildable': ('countsAdultsAlone',),
        },
    ),
    *expect_dropped(
        steps.MEND,
        'harbour.BasketTest',
        {
            't_old_c_old_unbuildable': ('countsEverybody', 'countsNobody'),
            't_new_c_old_unbuildable': ('holdsNineAtMost',),
        },
    ),
    *expect_dropped(
        steps.WINTER,
        'harbour.SeasonTest',
        {
            't_old_c_old_skipped': ('skatingStarts',),
            't_old_c_old_missing': ('marketsHaveNames',),
            't_old_c_old_fail': ('winterHasCome',),
            't_old_c_old_error': ('ferryIsHourly',),
            't_new_c_new_skipped': ('swimmingStarts',),
            't_new_c_new_missing': ('concertsHaveNames',),
            't_new_c_new_fail': ('hasAName',),
            't_new_c_new_error': ('ferryRuns',),
            't_old_c_new_skipped': ('hatsAreWorn',),
            't_old_c_new_missing': ('eventsHaveNames',),
            't_new_c_old_skipped': ('sledgesAreFast',),
            't_new_c_old_missing': ('lanternsGlow',),
        },
    ),
    *expect_dropped(steps.WINTER, 'harbour.LotteryTest', {'flaky': ('drawsANumber',)}),
    *expect_labelled(steps.OFFICE, 'harbour.OfficeTest', {Label.GENERATION: ('isOpenAtNoon',)}),
    *expect_dropped(
        steps.OFFICE,
        'harbour.OfficeTest',
        {'t_new_c_new_compile_error': ('opensInTheMorning', 'closesInTheEvening')},
    ),
    *expect_labelled(steps.HOURS, 'harbour.OfficeTest', {Label.REPAIR: ('opensInTheMorning',)}),
    *expect_dropped(
        steps.HOURS, 'harbour.OfficeTest', {'t_old_c_old_compile_error': ('closesInTheEvening',)}
    ),
    *expect_labelled(steps.EXTRACT, 'harbour.HolidaysTest', {Label.UNAFFECTED: SAMPLED}),
    *expect_dropped(steps.EXTRACT, 'harbour.HolidaysTest', {'not_sampled': NOT_SAMPLED}),
    *(
        method
        for step in (steps.POLITE, steps.LOCAL, steps.RECONCILE)
        for method in expect_labelled(step, 'harbour.GreetingTest', {Label.UPDATE: ('greets',)})
    ),
)

LOSSES = (
    Loss(step=steps.ROOT, stage=Stage.WALK, reason='root_commit'),
    Loss(step=steps.DOCUMENT, stage=Stage.WALK, reason='no_code_change'),
    Loss(step=steps.COMMENT, stage=Stage.PAIR, reason='comments_or_formatting_only'),
    Loss(step=steps.EXAMPLE, stage=Stage.PAIR, reason='no_source_or_test_change'),
    Loss(step=steps.MERGE, stage=Stage.WALK, reason='merge_without_change'),
)
