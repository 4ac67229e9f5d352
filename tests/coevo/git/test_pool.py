from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coevo.git.clones import RepositoryPool
from coevo.git.repository import Repository
from tests.repos import commit, init

NAMES = ('a', 'b', 'c')


@pytest.fixture
def heads(tmp_path: Path) -> dict[str, str]:
    return {name: commit(init(tmp_path / name), name, {'file': name}) for name in NAMES}


@pytest.fixture
def without_collector() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def readers() -> int:
    """Processes of Git that this one has."""
    found = [path.read_text() for path in Path('/proc/self/task').glob('*/children')]
    return sum(len(each.split()) for each in found)


@pytest.mark.usefixtures('without_collector')
def test_git_process_of_a_repository_ends_with_its_last_reference(
    tmp_path: Path, heads: dict[str, str]
) -> None:
    before = readers()
    for name, rev in heads.items():
        repository = Repository(tmp_path / name / '.git')
        assert repository.load_text(rev, 'file') == name
        assert readers() == before + 1
        del repository
        assert readers() == before


@pytest.mark.usefixtures('without_collector')
def test_pool_closes_the_least_recently_used_repository(
    tmp_path: Path, heads: dict[str, str]
) -> None:
    events: list[str] = []

    @contextmanager
    def opened(name: str) -> Iterator[Repository]:
        events.append(f'+{name}')
        yield Repository(tmp_path / name / '.git')
        events.append(f'-{name}')

    before = readers()
    known = []  # as a cache of trees knows them
    with RepositoryPool(opened, most=2) as pool:
        for name in ('a', 'b', 'a', 'c', 'a', 'b'):
            known.append(pool.get(name))
            assert known[-1].load_text(heads[name], 'file') == name
            assert readers() <= before + 2
        assert events == ['+a', '+b', '-b', '+c', '-c', '+b']
    assert sorted(events[6:]) == ['-a', '-b']
    assert readers() == before


def test_a_closed_repository_can_be_read_again(tmp_path: Path, heads: dict[str, str]) -> None:
    before = readers()
    repository = Repository(tmp_path / 'a' / '.git')
    for _ in range(2):
        assert repository.load_text(heads['a'], 'file') == 'a'
        assert readers() == before + 1
        repository.close()
        repository.close()
        assert readers() == before


def test_pool_retries_a_repository_that_could_not_be_opened(
    tmp_path: Path, heads: dict[str, str]
) -> None:
    failures = [OSError('not now')]

    @contextmanager
    def opened(name: str) -> Iterator[Repository]:
        if failures:
            raise failures.pop()
        yield Repository(tmp_path / name / '.git')

    with RepositoryPool(opened) as pool:
        with pytest.raises(OSError, match='not now'):
            pool.get('a')
        assert pool.get('a').resolve('main') == heads['a']


def test_pool_maps_chosen_names_to_repositories_in_the_order_of_names(
    tmp_path: Path, heads: dict[str, str]
) -> None:
    @contextmanager
    def opened(name: str) -> Iterator[Repository]:
        yield Repository(tmp_path / name / '.git')

    with RepositoryPool(opened, most=1) as pool:
        some = pool.map_names(['c', 'a'])
        assert (list(some), len(some)) == (['a', 'c'], 2)
        assert 'b' not in some
        with pytest.raises(KeyError):
            some['b']
        assert {name: one.resolve('main') for name, one in some.items()} == {
            name: heads[name] for name in ('a', 'c')
        }
