"""Pairs with more tests to run than `most_tests` wait for a run without that limit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.storage.store import Store
from flows.pipeline import mine
from tests.languages import toys
from tests.projects import QUICK, options, write
from tests.settings_files import settings

pytestmark = pytest.mark.usefixtures('toy')

# Two tests come with the first change, four with the second, one with the third.
COUNTS = (0, 2, 6, 7)
STEPS: list[dict[str, str | bytes | None]] = [
    {
        **toys.BUILD,
        **toys.source('Till', f'price: {count}'),
        **toys.tests('Till', *(f'follows{one}: is Till.price {count}' for one in range(count))),
    }
    for count in COUNTS
]


@pytest.fixture(scope='module')
def repository(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp('shop') / 'repository', STEPS)


def test_large_pairs_wait_and_are_mined_without_the_limit(repository: Path, tmp_path: Path) -> None:
    everything = options(repository, tmp_path / 'store', profile=QUICK)
    report = mine(replace(everything, most_tests=5))
    assert (report.executed, sorted(report.deferred.values())) == (1, [6, 7])
    assert not report.failures
    store = Store(tmp_path / 'store')
    (partition,) = store.list_partitions()
    assert len([*store.load_current_segments(partition)]) == 1

    report = mine(replace(everything, most_tests=6))
    assert (report.executed, report.reused, sorted(report.deferred.values())) == (1, 1, [7])

    report = mine(everything)
    assert (report.executed, report.reused, report.deferred) == (1, 2, {})
    assert len([*store.load_current_segments(partition)]) == 3


def test_summary_says_which_pairs_wait(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['mine', str(repository), '--name', 'me/shop', '--store', str(tmp_path / 'store')]
    assert main([*words, *settings(tmp_path, most_tests=5)]) == 0
    said = ' '.join(capsys.readouterr().out.split())
    assert '2 pairs wait, with 6 to 7 tests to run, since `most_tests` is less' in said
