from __future__ import annotations

import dataclasses
import random
from datetime import UTC, datetime

import pytest

from coevo.model.method_rows import MethodRow
from packagers.near_duplicates import LEAST_INDEX, compute_source_grams, mark_near_duplicates
from tests import segments

BODY = '@Test void boards() { Ferry f = new Ferry(4); f.board(2); assertEquals(2, f.free()); }'


def row(number: int, repo: str, source: str, day: int | None = None) -> MethodRow:
    found = segments.segment(1).methods[0]
    return dataclasses.replace(
        found,
        method_id=f'{number:016x}',
        repo=repo,
        test_method='boards',
        new_source=source,
        contamination_date=day and datetime(2024, 1, day, tzinfo=UTC),
    )


def found(*rows: MethodRow) -> dict[int, int]:
    marks = mark_near_duplicates(rows)
    return {int(mark.method_id, 16): int(mark.near_duplicate_of or '', 16) for mark in marks}


@pytest.mark.parametrize(
    'copy',
    [
        BODY,
        BODY.replace(' ', '\n  '),
        BODY.replace('4', '400').replace('f.board', '/* why */ f.board'),
        BODY.replace('boards', 'lets'),
        BODY.replace('2, f.free()', '9, f.free()'),
    ],
)
def test_copy_with_other_spaces_names_or_values_is_marked(copy: str) -> None:
    copied = dataclasses.replace(
        row(2, 'b/b', copy, 5), test_method='lets' if 'lets' in copy else 'boards'
    )
    assert found(row(1, 'a/a', BODY, 4), copied) == {2: 1}


def test_earliest_copy_is_the_original_and_undated_copies_come_last() -> None:
    rows = [row(1, 'a/a', BODY, None), row(2, 'b/b', BODY, 9), row(3, 'c/c', BODY, 5)]
    assert found(*rows) == found(*reversed(rows)) == {1: 3, 2: 3}


def test_same_test_in_one_repository_is_no_near_duplicate_of_itself() -> None:
    assert found(row(1, 'a/a', BODY), row(2, 'a/a', BODY)) == {}


def test_equal_tests_of_two_classes_in_one_pair_are_near_duplicates() -> None:
    """They are as old as each other: the smaller id is the original."""
    twin = dataclasses.replace(row(2, 'a/a', BODY, 4), test_class='ferry.RaftTest')
    assert found(row(1, 'a/a', BODY, 4), twin) == {2: 1}


def test_dissimilar_tests_are_not_marked() -> None:
    other = BODY.replace('f.board(2)', 'f.board(1, 2, 3)').replace('assertEquals', 'assertNull')
    assert found(row(1, 'a/a', BODY), row(2, 'b/b', other)) == {}


def test_join_finds_the_near_duplicates_that_a_full_comparison_finds() -> None:
    """Against all pairs compared one by one."""
    chance = random.Random(7)
    words = [f'w{number}' for number in range(40)]
    base = [' '.join(chance.choices(words, k=chance.randint(5, 40))) for _ in range(12)]
    rows = []
    for number in range(150):
        tokens = chance.choice(base).split()
        for _ in range(chance.randint(0, 2)):
            tokens[chance.randrange(len(tokens))] = chance.choice(words)
        rows.append(row(number, f'{chance.choice("abc")}/x', ' '.join(tokens)))
    expected = {}
    for later in range(150):
        one = compute_source_grams(rows[later].new_source or '', 'boards')
        for earlier in range(later):
            other = compute_source_grams(rows[earlier].new_source or '', 'boards')
            if rows[earlier].repo != rows[later].repo and (
                len(one & other) / len(one | other) >= LEAST_INDEX
            ):
                # Equal texts of a repository are as old as the first of them.
                expected.setdefault(later, earlier)
    answer = found(*rows)
    same = {
        (rows[number].repo, compute_source_grams(rows[number].new_source or '', 'boards')): number
        for number in reversed(range(150))
    }
    first = [
        same[item.repo, compute_source_grams(item.new_source or '', 'boards')] for item in rows
    ]
    wanted = {n: expected[first[n]] for n in range(150) if first[n] in expected}
    assert {key: first[value] for key, value in answer.items()} == {
        key: first[value] for key, value in wanted.items()
    }
    assert len(answer) > 20
