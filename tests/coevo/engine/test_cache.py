"""What the cache gives back is what was kept, whole and undamaged, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from pathlib import Path

import pytest

from coevo.engine.cache import Cache
from coevo.engine.cache import batch_key
from coevo.engine.results import Order
from coevo.engine.results import Run
from coevo.languages.verdicts import Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.storage import entries

BATCH = ('first', 'second')
PASSED = Verdict(outcome=Outcome.PASS, cpu_seconds=0.25)
FAILED = Verdict(
    outcome=Outcome.FAIL, signature='E@shop.Till', exceptions=('E',), message='no', cpu_seconds=0.5
)


def run(order: Order, verdict: Verdict) -> Run:
    return Run(order=order, verdict=verdict)


def runs(*second: Run) -> Mapping[str, Sequence[Run]]:
    first = tuple(run(order, FAILED) for order in (Order.GIVEN, Order.REVERSED))
    return {'first': first, 'second': second}


SOUND = runs(run(Order.GIVEN, PASSED), run(Order.REVERSED, PASSED), run(Order.ALONE, PASSED))


def entry(folder: Path) -> Path:
    (found,) = folder.glob('??/*')
    return found


def test_a_kept_batch_comes_back_under_whatever_ids_it_has_now(tmp_path: Path) -> None:
    Cache(tmp_path).keep('abc', BATCH, SOUND)
    known = Cache(tmp_path).recall('abc', ('one', 'two'))
    assert known == {
        ('one', Order.GIVEN): FAILED,
        ('one', Order.REVERSED): FAILED,
        ('two', Order.GIVEN): PASSED,
        ('two', Order.REVERSED): PASSED,
        ('two', Order.ALONE): PASSED,
    }
    assert Cache(tmp_path).recall('abd', BATCH) == {}


@pytest.mark.parametrize(
    'second',
    [
        (run(Order.GIVEN, PASSED), run(Order.REVERSED, FAILED)),
        (run(Order.GIVEN, PASSED), run(Order.ALONE, PASSED)),
        (run(Order.GIVEN, PASSED), run(Order.REVERSED, PASSED), run(Order.REVERSED, PASSED)),
        tuple(
            run(order, Verdict(outcome=Outcome.TIMEOUT, signature='time'))
            for order in (Order.GIVEN, Order.REVERSED)
        ),
    ],
    ids=['disagreeing', 'incomplete', 'repeated', 'over a limit'],
)
def test_a_batch_that_is_not_sound_is_not_kept(tmp_path: Path, second: Sequence[Run]) -> None:
    Cache(tmp_path).keep('abc', BATCH, runs(*second))
    assert Cache(tmp_path).recall('abc', BATCH) == {}


@pytest.mark.parametrize('damage', [b'', b'\n', b'no checksum\n{}'])
def test_a_damaged_entry_counts_as_missing_and_is_removed(tmp_path: Path, damage: bytes) -> None:
    Cache(tmp_path).keep('abc', BATCH, SOUND)
    entry(tmp_path).write_bytes(damage)
    assert Cache(tmp_path).recall('abc', BATCH) == {}
    assert list(tmp_path.glob('??/*')) == []


def test_a_changed_byte_is_noticed(tmp_path: Path) -> None:
    Cache(tmp_path).keep('abc', BATCH, SOUND)
    file = entry(tmp_path)
    file.write_bytes(file.read_bytes().replace(b'"fail"', b'"pass"'))
    assert Cache(tmp_path).recall('abc', BATCH) == {}


def test_what_was_used_least_recently_goes_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    cache.keep('old', BATCH, SOUND)
    size = entry(tmp_path).stat().st_size
    cache.keep('new', BATCH, SOUND)
    monkeypatch.setattr(entries, 'BOUND_BYTES', size * 3 // 2)
    cache.recall('old', BATCH)
    assert Cache(tmp_path).recall('new', BATCH) == {}
    assert cache.recall('old', BATCH) != {}


def test_a_key_tells_content_order_and_surroundings_apart() -> None:
    one, two = (
        TestMethod(module='.', test_file='A.java', test_class='A', test_method=name, parameters=())
        for name in ('one', 'two')
    )
    keys = {
        batch_key('c', (one, two), '1'),
        batch_key('c', (two, one), '1'),
        batch_key('c', (one,), '1'),
        batch_key('d', (one, two), '1'),
        batch_key('c', (one, two), '2'),
    }
    assert len(keys) == 5


def test_without_a_folder_nothing_is_kept() -> None:
    Cache(None).keep('abc', BATCH, SOUND)
    assert Cache(None).recall('abc', BATCH) == {}
