"""The identification baseline on made-up tests whose labels follow a rule that is known."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from benchmarks.identification import (
    LabelledTest,
    build_table,
    predict_labels,
    read_labelled_tests,
)
from benchmarks.tables import Row
from tests.coevo.snapshots import test_identification

FAMILIES, EACH = 10, 30
drawn = test_identification.drawn


def made(seed: int = 1) -> Iterator[LabelledTest]:
    """A test breaks if it calls what is removed; of all others a fifth is edited for no reason that shows."""
    lot = random.Random(seed)
    for family in range(FAMILIES):
        for number in range(EACH):
            called, breaks = f'call{lot.randrange(8)}', number % 3 == 0
            removed = called if breaks else f'other{lot.randrange(8)}'
            yield LabelledTest(
                method_id=f'{family}-{number}',
                family=f'owner/{family}',
                test=f'void test() {{ new Till().{called}(); }}',
                change=(f'{"removed" if breaks else "modified"} int {removed}()',),
                static=breaks or lot.random() < 0.2,
                dynamic=breaks,
            )


def found(rows: Sequence[LabelledTest]) -> dict[tuple[str, str], Row]:
    return {(row['train'], row['test']): row for row in build_table(rows)}


@pytest.mark.slow
def test_classifier_learns_a_visible_rule_and_not_unexplained_edits() -> None:
    """Who knows which tests break has an F1 on static labels that follows from their numbers."""
    rows = list(made())
    breaks, edited = sum(row.dynamic for row in rows), sum(row.static for row in rows)
    table_12 = found(rows)
    assert table_12['dynamic', 'dynamic']['f1'] == '1.000'
    ceiling = 2 * breaks / (breaks + edited)
    assert float(table_12['dynamic', 'static']['f1']) == pytest.approx(ceiling, abs=0.001)
    assert table_12['dynamic', 'static']['precision'] == '1.000'
    assert float(table_12['static', 'dynamic']['f1']) > 0.9
    low, high = (float(table_12['dynamic', 'static'][name]) for name in ('f1_low', 'f1_high'))
    assert low < ceiling < high


def test_always_positive_baseline_has_the_share_of_positives_as_precision() -> None:
    row = found(list(made()))['always positive', 'dynamic']
    assert (row['precision'], row['recall']) == ('0.333', '1.000')
    assert row['f1'] == '0.500'


def test_labels_that_only_the_repository_predicts_are_not_learnt() -> None:
    """All tests of a family have one class, which a name of its own gives away to who saw the family."""
    rows = [
        replace(row, test=row.family.replace('/', ''), change=(), static=odd, dynamic=odd)
        for row in made()
        for odd in [int(row.family.rpartition('/')[2]) % 2 == 1]
    ]
    answers = predict_labels(rows, 'dynamic')
    right = sum(answers[row.method_id] == row.dynamic for row in rows) / len(rows)
    assert right < 0.7


def test_random_labels_are_predicted_no_better_than_by_chance() -> None:
    lot = random.Random(3)
    rows = [replace(row, dynamic=lot.random() < 0.5) for row in made()]
    row = found(rows)['dynamic', 'dynamic']
    assert 0.35 < float(row['f1']) < 0.65


def test_sampled_negative_is_weighted_for_the_negatives_not_drawn() -> None:
    """Each false positive stands for four: a precision of 1 in 2 is 1 in 5."""
    rows = [
        LabelledTest(
            method_id=f'{family}{number}',
            family=f'owner/{family}',
            test='t',
            change=(),
            static=number == 0,
            dynamic=number == 0,
            weight=1.0 if number == 0 else 4.0,
        )
        for family in range(2)
        for number in range(2)
    ]
    row = found(rows)['always positive', 'static']
    assert (row['precision'], row['rows'], row['weighted']) == ('0.200', '4', '10.0')


def test_table_does_not_depend_on_the_order_of_rows() -> None:
    rows = list(made())
    assert found(rows) == found(rows[::-1])


def test_snapshot_rows_carry_static_and_dynamic_labels_and_a_weight(drawn: object) -> None:
    rows = {row.test.split('(')[0]: row for row in read_labelled_tests(drawn)}  # type: ignore[arg-type]
    assert len(rows) == 8
    both = {name: (row.static, row.dynamic, row.weight) for name, row in rows.items()}
    assert sorted(both.values()) == [
        *[(False, False, pytest.approx(11 / 5))] * 3,
        (False, False, pytest.approx(5 / 2)),
        (True, False, 1.0),
        *[(True, True, 1.0)] * 3,
    ]
    assert all(row.change for row in rows.values())
