"""Dates as a step of mining: a release joins them, and searches only what mining has not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.listener import Listener
from coevo.snapshots.snapshot import open_snapshots
from coevo.storage import dates
from coevo.storage.store import Store
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.flows.mining_runs import different
from tests.flows.shops import Shop, opened
from tests.languages import toys
from tests.projects import NAME, QUICKLY
from tests.repos import commit, init


@pytest.fixture
def shop(toy: None, tmp_path: Path) -> Shop:
    return opened(tmp_path)


class Steps:
    """Hears which steps a release takes."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def release(self, shop: Shop, name: str) -> set[str]:
        """Release all of a store; the histories that were searched for it."""
        self.names.clear()
        listener = Listener(step=lambda step, done, total: self.names.add(step))
        publish_release(
            ReleaseOptions(store=shop.folder / 'store', snapshot=shop.folder / name), listener
        )
        return {step for step in self.names if step.startswith('history')}


def test_a_release_of_mined_repositories_searches_no_history(shop: Shop) -> None:
    assert Steps().release(shop, 'first') == set()
    rows = shop.table('first', 'methods')
    assert {f'{row["contamination_date"]:%F}' for row in rows} == {'2024-01-20', '2024-02-03'}
    assert {row['contamination_basis'] for row in rows} == {'branches_only'}


def test_an_unchanged_test_is_not_dated_after_the_commit_of_its_pair(
    toy: None, tmp_path: Path
) -> None:
    """A commit that is rebased onto a younger test keeps its author date, and the release its law."""
    folder = init(tmp_path / 'repository')
    tests = toys.tests('Calm', 'rests: call Till.price')
    commit(
        folder,
        'begin',
        {**toys.BUILD, **toys.source('Till', 'price: 1')},
        date='2024-01-01T00:00:00Z',
    )
    commit(folder, 'test', tests, date='2024-03-01T00:00:00Z')
    more = toys.source('Till', 'price: 2')
    moments = {'date': '2024-04-01T00:00:00Z', 'author_date': '2024-02-01T00:00:00Z'}
    commit(folder, 'rebased', more, **moments)
    toys.mined(folder, tmp_path / 'store')
    publish_release(ReleaseOptions(store=tmp_path / 'store', snapshot=tmp_path / 'snapshot'))
    rows = open_snapshots(tmp_path / 'snapshot').sql(
        'SELECT label, contamination_date FROM methods ORDER BY contamination_date'
    )
    dated = [(label, f'{date:%F}') for label, date in rows.fetchall()]
    assert ('unaffected', '2024-02-01') in dated


def test_a_store_without_dates_is_searched_once_and_gives_the_same_bytes(shop: Shop) -> None:
    assert Steps().release(shop, 'first') == set()
    shutil.rmtree(shop.folder / 'store' / 'dates')
    assert Steps().release(shop, 'second') == {'history (toy)'}
    assert different(shop.folder / 'first', shop.folder / 'second') == []
    assert Steps().release(shop, 'third') == set()


@pytest.mark.sampled(1)
@pytest.mark.parametrize('name', ['toy.wanted', 'toy.seen'])
def test_a_damaged_dates_file_is_rebuilt(shop: Shop, name: str) -> None:
    (file,) = (shop.folder / 'store' / 'dates').glob(f'*/{name}')
    good = file.read_bytes()
    file.write_bytes(good[:-9] + b'123456789')
    Steps().release(shop, 'first')
    assert file.read_bytes() == good


@pytest.mark.slow
def test_a_release_does_the_date_search_that_a_killed_run_missed(shop: Shop) -> None:
    store = Store(shop.folder / 'store')
    assert not dates.is_unsearched(store.storage, NAME)
    dates.mark_unsearched(store.storage, NAME)
    Steps().release(shop, 'first')
    assert not dates.is_unsearched(store.storage, NAME)


@pytest.mark.slow
def test_a_test_body_is_dated_by_the_clone_of_another_repository(
    shop: Shop, tmp_path: Path
) -> None:
    """Though that one was mined later."""
    other = init(tmp_path / 'other')
    files = {**toys.BUILD, 'copied.toy': (shop.repository / 'test_till.toy').read_text()}
    commit(other, 'copied', files, date='2023-05-01T00:00:00Z')
    commit(other, 'next', {'a.toy': '[shop.A]\n'}, date='2023-06-01T00:00:00Z')
    words = ('--store', str(shop.folder / 'store'), '--name', 'other/copy', *QUICKLY)
    assert main(['mine', str(other), *words]) == 0
    assert Steps().release(shop, 'first') == set()
    days = {f'{row["contamination_date"]:%F}' for row in shop.table('first', 'methods')}
    assert days == {'2024-01-20', '2023-05-01'}
