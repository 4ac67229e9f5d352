"""What the cache gives back is what was kept, whole and undamaged, or nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from coevo.engine.groups import Cache, compute_batch_key
from coevo.engine.results import MethodRun, RunOrder
from coevo.languages.verdicts import Verdict
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.storage import durable

BATCH = ('first', 'second')
PASSED = Verdict(outcome=Outcome.PASS, cpu_seconds=0.25)
FAILED = Verdict(
    outcome=Outcome.FAIL, signature='E@shop.Till', exceptions=('E',), message='no', cpu_seconds=0.5
)


def run(order: RunOrder, verdict: Verdict) -> MethodRun:
    return MethodRun(order=order, verdict=verdict)


def runs(*second: MethodRun) -> Mapping[str, Sequence[MethodRun]]:
    first = tuple(run(order, FAILED) for order in (RunOrder.GIVEN, RunOrder.REVERSED))
    return {'first': first, 'second': second}


SOUND = runs(
    run(RunOrder.GIVEN, PASSED), run(RunOrder.REVERSED, PASSED), run(RunOrder.ALONE, PASSED)
)


def entry(folder: Path) -> Path:
    (found,) = folder.glob('??/*')
    return found


def test_cached_batch_is_recalled_under_its_current_method_ids(tmp_path: Path) -> None:
    Cache(tmp_path).store_batch_if_cacheable('abc', BATCH, SOUND)
    known = Cache(tmp_path).load_verdicts('abc', ('one', 'two'))
    assert known == {
        ('one', RunOrder.GIVEN): FAILED,
        ('one', RunOrder.REVERSED): FAILED,
        ('two', RunOrder.GIVEN): PASSED,
        ('two', RunOrder.REVERSED): PASSED,
        ('two', RunOrder.ALONE): PASSED,
    }
    assert Cache(tmp_path).load_verdicts('abd', BATCH) == {}


@pytest.mark.parametrize(
    'second',
    [
        (run(RunOrder.GIVEN, PASSED), run(RunOrder.REVERSED, FAILED)),
        (run(RunOrder.GIVEN, PASSED), run(RunOrder.ALONE, PASSED)),
        (
            run(RunOrder.GIVEN, PASSED),
            run(RunOrder.REVERSED, PASSED),
            run(RunOrder.REVERSED, PASSED),
        ),
        tuple(
            run(order, Verdict(outcome=Outcome.TIMEOUT, signature='time'))
            for order in (RunOrder.GIVEN, RunOrder.REVERSED)
        ),
    ],
    ids=['disagreeing', 'incomplete', 'repeated', 'over a limit'],
)
def test_batch_with_unsound_runs_is_not_cached(tmp_path: Path, second: Sequence[MethodRun]) -> None:
    Cache(tmp_path).store_batch_if_cacheable('abc', BATCH, runs(*second))
    assert Cache(tmp_path).load_verdicts('abc', BATCH) == {}


@pytest.mark.parametrize('damage', [b'', b'\n', b'no checksum\n{}'])
def test_damaged_cache_entry_counts_as_missing_and_is_removed(
    tmp_path: Path, damage: bytes
) -> None:
    Cache(tmp_path).store_batch_if_cacheable('abc', BATCH, SOUND)
    entry(tmp_path).write_bytes(damage)
    assert Cache(tmp_path).load_verdicts('abc', BATCH) == {}
    assert list(tmp_path.glob('??/*')) == []


def test_cache_entry_with_a_changed_byte_is_not_recalled(tmp_path: Path) -> None:
    Cache(tmp_path).store_batch_if_cacheable('abc', BATCH, SOUND)
    file = entry(tmp_path)
    file.write_bytes(file.read_bytes().replace(b'"fail"', b'"pass"'))
    assert Cache(tmp_path).load_verdicts('abc', BATCH) == {}


def test_least_recently_used_cache_entry_is_evicted_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = Cache(tmp_path)
    cache.store_batch_if_cacheable('old', BATCH, SOUND)
    size = entry(tmp_path).stat().st_size
    cache.store_batch_if_cacheable('new', BATCH, SOUND)
    monkeypatch.setattr(durable, 'BOUND_BYTES', size * 3 // 2)
    cache.load_verdicts('old', BATCH)
    assert Cache(tmp_path).load_verdicts('new', BATCH) == {}
    assert cache.load_verdicts('old', BATCH) != {}


def test_batch_key_depends_on_content_test_order_and_environment() -> None:
    one, two = (
        TestMethod(module='.', test_file='A.java', test_class='A', test_method=name, parameters=())
        for name in ('one', 'two')
    )
    keys = {
        compute_batch_key('c', (one, two), '1'),
        compute_batch_key('c', (two, one), '1'),
        compute_batch_key('c', (one,), '1'),
        compute_batch_key('d', (one, two), '1'),
        compute_batch_key('c', (one, two), '2'),
    }
    assert len(keys) == 5


def test_cache_without_a_folder_keeps_nothing() -> None:
    Cache(None).store_batch_if_cacheable('abc', BATCH, SOUND)
    assert Cache(None).load_verdicts('abc', BATCH) == {}
