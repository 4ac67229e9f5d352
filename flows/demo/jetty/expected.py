"""What mining the Go history has to give, row by row: set down by hand from its sources."""

from __future__ import annotations

from coevo.model.words import Label, Stage
from flows.demo.expected import ExpectedMethod, Loss, expect_dropped, expect_labelled
from flows.demo.jetty import steps

# Drawn from the ids of the commits: an edit of the history draws anew.
NOT_SAMPLED = ('TestKnowsApril', 'TestKnowsJune')
MONTHS = (
    *('January', 'February', 'March', 'April', 'May', 'June'),
    *('July', 'August', 'September', 'October', 'November', 'December'),
)
SAMPLED = tuple(f'TestKnows{name}' for name in MONTHS if f'TestKnows{name}' not in NOT_SAMPLED)

METHODS = (
    *expect_labelled(
        steps.CHARGE,
        'jetty',
        {
            Label.UPDATE: ('TestChargesForOneHour', 'TestChargesForManyHours'),
            Label.REFINEMENT: ('TestIsNeverFree', 'TestIsAffordable'),
            Label.UNAFFECTED: ('TestGrowsWithTheHours', 'TestIsTheSameEveryTime'),
            Label.BROKEN_BY_CHANGE: ('TestIsEven', 'TestIsProportional'),
        },
    ),
    *expect_labelled(
        steps.REFUND,
        'jetty',
        {
            Label.UNAFFECTED: ('TestNothingComesOfNothing',),
            Label.GENERATION: (
                'TestHalfIsPaidBackAWeekAhead',
                'TestDebtsAreNotPaidBack',
                'TestNothingIsPaidBackTheDayBefore',
                # In the order of its file it is always the first.
                'TestLetsTheFirstVisitorIn',
            ),
            Label.REDUNDANT: ('TestEverythingIsPaidBack', 'TestLargeSumsArePaidBack'),
        },
    ),
    *expect_dropped(steps.REFUND, 'jetty', {'order_dependent': ('TestStartsFromNothing',)}),
    *expect_labelled(
        steps.ROUND,
        'jetty',
        {
            Label.CURED_BY_CODE: ('TestRoundsHalvesUp', 'TestRoundsNinesUp'),
            Label.UNAFFECTED: ('TestShowsTheCurrencyFirst',),
            Label.OBSOLETE: ('TestShowsWhatIsLeftOfAEuro', 'TestShowsTheSpace'),
            Label.RETIRED: ('TestKeepsWholePrices', 'TestShowsSomething'),
        },
    ),
    *expect_labelled(
        steps.CENTS,
        'jetty',
        {
            Label.FIXTURE_UPDATE: ('TestAddsUpPapers', 'TestOnePaperCostsItsPrice'),
            Label.FIXTURE_REFINEMENT: ('TestAnEmptyBasketIsFree', 'TestNobodyPaysForNothing'),
            Label.UNAFFECTED: ('TestSmallOnesFit', 'TestHasACodeOfItsOwn'),
            Label.UPDATE: ('TestAdultsTakeTwentyKilos',),
        },
    ),
    *expect_labelled(
        steps.RIGHT, 'jetty', {Label.REPAIR: ('TestMeasuresOneLeg', 'TestMeasuresALongWay')}
    ),
    *expect_dropped(steps.RIGHT, 'jetty', {'no_source_change': ('TestIsNothingAtHome',)}),
    *expect_labelled(
        steps.PLACE,
        'jetty',
        {
            Label.UPDATE: ('TestLabelsTheFirstRow', 'TestLabelsHighRows'),
            Label.OBSOLETE: ('TestTheFirstColumnIsAtTheWindow',),
        },
    ),
    # A label that only a change of the build explains is no task.
    *(
        ExpectedMethod(
            step=steps.LANGUAGE, test=f'jetty#{name}', label=Label.UPDATE, reason='cause_build'
        )
        for name in ('TestWeighsTheFirstBag', 'TestWeighsEachBag')
    ),
    *expect_dropped(
        steps.BREAK,
        'basket',
        {
            't_new_c_new_unbuildable': ('TestCountsEverybody', 'TestCountsNobody'),
            't_old_c_new_unbuildable': ('TestCountsAdultsAlone',),
        },
    ),
    *expect_dropped(
        steps.MEND,
        'basket',
        {
            't_old_c_old_unbuildable': ('TestCountsEverybody', 'TestCountsNobody'),
            't_new_c_old_unbuildable': ('TestHoldsNineAtMost',),
        },
    ),
    *expect_dropped(
        steps.WINTER,
        'season',
        {
            't_old_c_old_skipped': ('TestSkatingStarts',),
            't_old_c_old_missing': ('TestMarketsHaveNames',),
            't_old_c_old_fail': ('TestWinterHasCome',),
            't_old_c_old_error': ('TestFerryIsHourly',),
            't_new_c_new_skipped': ('TestSwimmingStarts',),
            't_new_c_new_missing': ('TestConcertsHaveNames',),
            't_new_c_new_fail': ('TestHasAName',),
            't_new_c_new_error': ('TestFerryRuns',),
            't_old_c_new_skipped': ('TestHatsAreWorn',),
            't_old_c_new_missing': ('TestEventsHaveNames',),
            't_new_c_old_skipped': ('TestSledgesAreFast',),
            't_new_c_old_missing': ('TestLanternsGlow',),
        },
    ),
    *expect_dropped(steps.WINTER, 'jetty', {'flaky': ('TestDrawsANumber',)}),
    *expect_labelled(steps.OFFICE, 'jetty', {Label.GENERATION: ('TestIsOpenAtNoon',)}),
    *expect_dropped(
        steps.OFFICE,
        'jetty',
        {
            't_new_c_new_error': ('TestOpensInTheMorning',),
            't_new_c_new_compile_error': ('TestClosesInTheEvening',),
        },
    ),
    *expect_labelled(steps.HOURS, 'jetty', {Label.REPAIR: ('TestOpensInTheMorning',)}),
    *expect_dropped(
        steps.HOURS, 'jetty', {'t_old_c_old_compile_error': ('TestClosesInTheEvening',)}
    ),
    *expect_labelled(steps.EXTRACT, 'jetty', {Label.UNAFFECTED: SAMPLED}),
    *expect_dropped(steps.EXTRACT, 'jetty', {'not_sampled': NOT_SAMPLED}),
)

LOSSES = (
    Loss(step=steps.ROOT, stage=Stage.WALK, reason='root_commit'),
    Loss(step=steps.DOCUMENT, stage=Stage.WALK, reason='no_code_change'),
    Loss(step=steps.COMMENT, stage=Stage.PAIR, reason='comments_or_formatting_only'),
    Loss(step=steps.TOOL, stage=Stage.PAIR, reason='no_source_or_test_change'),
)
