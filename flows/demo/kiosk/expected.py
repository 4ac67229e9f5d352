"""What mining the Python history has to give, row by row: set down by hand from its sources."""

from __future__ import annotations

from coevo.model.words import Label, Stage
from flows.demo.expected import ExpectedMethod, Loss, expect_dropped, expect_labelled
from flows.demo.kiosk import steps

# Drawn from the ids of the commits: an edit of the history draws anew.
NOT_SAMPLED = ('test_knows_february', 'test_knows_march')
MONTHS = (
    *('january', 'february', 'march', 'april', 'may', 'june'),
    *('july', 'august', 'september', 'october', 'november', 'december'),
)
SAMPLED = tuple(f'test_knows_{name}' for name in MONTHS if f'test_knows_{name}' not in NOT_SAMPLED)

METHODS = (
    *expect_labelled(
        steps.CHARGE,
        'tests.test_tariff',
        {
            Label.UPDATE: ('test_charges_for_one_hour', 'test_charges_for_many_hours'),
            Label.REFINEMENT: ('test_is_never_free', 'test_is_affordable'),
            Label.UNAFFECTED: ('test_grows_with_the_hours', 'test_is_the_same_every_time'),
            Label.BROKEN_BY_CHANGE: ('test_is_even', 'test_is_proportional'),
        },
    ),
    *expect_labelled(
        steps.REFUND,
        'tests.test_refunds',
        {
            Label.UNAFFECTED: ('test_nothing_comes_of_nothing',),
            Label.GENERATION: (
                'test_half_is_paid_back_a_week_ahead',
                'test_debts_are_not_paid_back',
            ),
            Label.REDUNDANT: ('test_everything_is_paid_back', 'test_large_sums_are_paid_back'),
        },
    ),
    *expect_labelled(
        steps.REFUND,
        'tests.test_late_refunds',
        {Label.GENERATION: ('test_nothing_is_paid_back_the_day_before',)},
    ),
    *expect_dropped(
        steps.REFUND,
        'tests.test_turnstile',
        {'order_dependent': ('test_lets_the_first_visitor_in', 'test_starts_from_nothing')},
    ),
    *expect_labelled(
        steps.ROUND,
        'tests.test_rounding',
        {
            Label.CURED_BY_CODE: ('test_rounds_halves_up', 'test_rounds_nines_up'),
            Label.UNAFFECTED: ('test_shows_the_currency_first',),
            Label.OBSOLETE: ('test_shows_what_is_left_of_a_euro', 'test_shows_the_space'),
            Label.RETIRED: ('test_keeps_whole_prices', 'test_shows_something'),
        },
    ),
    *expect_labelled(
        steps.CENTS,
        'tests.test_checkout',
        {
            Label.FIXTURE_UPDATE: ('test_adds_up_papers', 'test_one_paper_costs_its_price'),
            Label.FIXTURE_REFINEMENT: (
                'test_an_empty_basket_is_free',
                'test_nobody_pays_for_nothing',
            ),
        },
    ),
    *expect_labelled(
        steps.CENTS,
        'tests.luggage.test_bag',
        {
            Label.UNAFFECTED: ('test_small_ones_fit',),
            Label.UPDATE: ('test_adults_take_twenty_kilos',),
        },
    ),
    *expect_labelled(
        steps.CENTS, 'tests.test_locker', {Label.UNAFFECTED: ('test_has_a_code_of_its_own',)}
    ),
    *expect_labelled(
        steps.RIGHT,
        'tests.test_distance$DistanceTest',
        {Label.REPAIR: ('test_measures_one_leg', 'test_measures_a_long_way')},
    ),
    *expect_dropped(
        steps.RIGHT,
        'tests.test_distance$DistanceTest',
        {'no_source_change': ('test_is_nothing_at_home',)},
    ),
    *expect_labelled(
        steps.PLACE,
        'tests.test_seat$TestSeat',
        {
            Label.UPDATE: ('test_labels_the_first_row', 'test_labels_high_rows'),
            Label.OBSOLETE: ('test_the_first_column_is_at_the_window',),
        },
    ),
    # A label that only a change of the build explains is no task.
    *(
        ExpectedMethod(
            step=steps.LEAN,
            test=f'tests.test_weight#{name}',
            label=Label.UPDATE,
            reason='cause_build',
        )
        for name in ('test_converts_grams', 'test_converts_few_grams')
    ),
    *expect_dropped(
        steps.BREAK,
        'tests.test_basket',
        {
            't_new_c_new_unbuildable': ('test_counts_everybody', 'test_counts_nobody'),
            't_old_c_new_unbuildable': ('test_counts_adults_alone',),
        },
    ),
    *expect_dropped(
        steps.MEND,
        'tests.test_basket',
        {
            't_old_c_old_unbuildable': ('test_counts_everybody', 'test_counts_nobody'),
            't_new_c_old_unbuildable': ('test_holds_nine_at_most',),
        },
    ),
    *expect_dropped(
        steps.WINTER,
        'tests.test_season',
        {
            't_old_c_old_skipped': ('test_skating_starts',),
            't_old_c_old_missing': ('test_markets_have_names',),
            't_old_c_old_fail': ('test_winter_has_come',),
            't_old_c_old_error': ('test_ferry_is_hourly',),
            't_new_c_new_skipped': ('test_swimming_starts',),
            't_new_c_new_missing': ('test_concerts_have_names',),
            't_new_c_new_fail': ('test_has_a_name',),
            't_new_c_new_error': ('test_ferry_runs',),
            't_old_c_new_skipped': ('test_hats_are_worn',),
            't_old_c_new_missing': ('test_events_have_names',),
            't_new_c_old_skipped': ('test_sledges_are_fast',),
            't_new_c_old_missing': ('test_lanterns_glow',),
        },
    ),
    *expect_dropped(steps.WINTER, 'tests.test_lottery', {'flaky': ('test_draws_a_number',)}),
    *expect_labelled(
        steps.OFFICE, 'tests.test_office', {Label.GENERATION: ('test_is_open_at_noon',)}
    ),
    # A test file that loads only with stand-ins runs those tests that need none of them.
    *expect_dropped(
        steps.OFFICE,
        'tests.test_office',
        {
            't_new_c_new_error': ('test_opens_in_the_morning',),
            't_new_c_new_compile_error': ('test_closes_in_the_evening',),
        },
    ),
    *expect_labelled(
        steps.HOURS, 'tests.test_office', {Label.REPAIR: ('test_opens_in_the_morning',)}
    ),
    *expect_dropped(
        steps.HOURS,
        'tests.test_office',
        {'t_old_c_old_compile_error': ('test_closes_in_the_evening',)},
    ),
    *expect_labelled(steps.EXTRACT, 'tests.test_holidays', {Label.UNAFFECTED: SAMPLED}),
    *expect_dropped(steps.EXTRACT, 'tests.test_holidays', {'not_sampled': NOT_SAMPLED}),
)

LOSSES = (
    Loss(step=steps.ROOT, stage=Stage.WALK, reason='root_commit'),
    Loss(step=steps.DOCUMENT, stage=Stage.WALK, reason='no_code_change'),
    Loss(step=steps.COMMENT, stage=Stage.PAIR, reason='comments_or_formatting_only'),
    Loss(step=steps.SESSION, stage=Stage.PAIR, reason='no_source_or_test_change'),
)
