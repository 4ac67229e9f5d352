from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from coevo.model.method_rows import MethodRow
from coevo.model.pair_rows import PairRow
from coevo.model.reasons import Reason
from coevo.model.records import Drop
from coevo.model.words import Stage
from packagers.row_files import RowFile, RowPacker, Sorter
from tests import segments
from tests.open_files import list_open_files

# Bytes: a row or two.
SMALL = 1000


def drop(repo: str, key: int, reason: str = 'flaky') -> Drop:
    found = segments.drop(1, Stage.LABEL, f'{key:016x}', reason)
    return dataclasses.replace(found, repo=repo)


def sorted_file(rows: list[Drop], run: int = SMALL) -> RowFile[Drop]:
    sorter = Sorter(Drop, run=run)
    for row in rows:
        sorter.add((row.repo, row.key), row)
    return sorter.finish()


@pytest.mark.parametrize('run', [1, SMALL, 1 << 20])
def test_rows_are_sorted_by_key_and_equal_keys_keep_their_order(run: int) -> None:
    chance = random.Random(1)
    rows = [
        drop(f'a/{chance.randrange(5)}', chance.randrange(40), f'{number}') for number in range(300)
    ]
    found = sorted_file(rows, run)
    assert list(found) == list(found) == sorted(rows, key=lambda row: (row.repo, row.key))
    assert (len(found), found[0], found[-1]) == (300, next(iter(found)), list(found)[299])


@pytest.mark.parametrize('run', [1, SMALL, 1 << 20])
def test_section_contains_its_rows_wherever_they_were_added(run: int) -> None:
    rows = [drop(f'a/{number % 7}', number) for number in range(200)]
    found = sorted_file(rows, run)
    for repo in ('a/0', 'a/3', 'a/6'):
        assert list(found.load_section(repo)) == [row for row in rows if row.repo == repo]
    assert list(found.load_section('a/')) == list(found.load_section('b')) == []


def test_empty_row_file_has_no_rows() -> None:
    found = sorted_file([])
    assert (list(found), len(found)) == ([], 0)
    with pytest.raises(IndexError):
        found[0]


def test_packed_row_is_restored_whatever_its_columns_contain() -> None:
    segment = segments.segment(1)
    odd = dataclasses.replace(
        segment.methods[0],
        test_file='b\udce9te.java',
        parameters=('a', 'b'),
        contamination_date=None,
    )
    for row in (*segment.methods, odd):
        again = RowPacker(MethodRow).unpack(RowPacker(MethodRow).pack(row))
        assert again == row
        assert (again.walk, again.label) == (row.walk, row.label)
        assert type(again.change) is type(row.change)
    assert RowPacker(PairRow).unpack(RowPacker(PairRow).pack(segment.pair)) == segment.pair


def test_enum_member_in_a_text_column_is_restored_as_text() -> None:
    row = drop('a/a', 1, Reason.NOT_REPRODUCED)
    assert RowPacker(Drop).unpack(RowPacker(Drop).pack(row)) == row


def test_row_file_has_no_name_and_is_closed_with_its_rows(tmp_path: Path) -> None:
    sorter = Sorter(Drop, tmp_path, SMALL)
    for number in range(100):
        sorter.add((number,), drop('a/a', number))
    found = sorter.finish()
    del sorter
    assert len(list(found)) == 100
    assert list(tmp_path.iterdir()) == []
    assert len(list_open_files(tmp_path)) == 1
    del found
    assert list_open_files(tmp_path) == []
