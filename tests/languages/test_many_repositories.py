"""A release of more repositories than it opens at once."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.git.clones import MOST_OPEN
from coevo.git.process import run_git
from coevo.model.listener import Listener
from coevo.storage.clone_folders import locate_clone
from flows.options import ReleaseOptions
from flows.pipeline import mine
from flows.publication import publish_release
from tests.languages import toys
from tests.open_files import read_descriptors
from tests.projects import options
from tests.repos import commit, init

pytestmark = pytest.mark.usefixtures('toy')

COUNT = 12
# Of one open repository: a lock and the two ends of its process of Git.
EACH = 3


@pytest.fixture(scope='module')
def store(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same files in each repository, so that one of them is run for all; no commit is in two."""
    folder = tmp_path_factory.mktemp('many')
    for number in range(COUNT):
        path = init(folder / f'{number}')
        for step in range(2):
            files = {
                **toys.BUILD,
                **toys.source('Till', f'price: {step}'),
                **toys.tests('Till', f'follows: is Till.price {step}'),
            }
            commit(
                path, f'step {step} of {number}', files, date=f'2024-01-{number + 1:02}T0{step}:00Z'
            )
        asked = dataclasses.replace(options(path, folder / 'store'), name=f'shop/r{number:02}')
        assert mine(asked).executed == 1
    return folder / 'store'


def readers() -> int:
    """Processes of Git that this one has."""
    found = [path.read_text() for path in Path('/proc/self/task').glob('*/children')]
    return sum(len(each.split()) for each in found)


def descriptors(clones: Path) -> int:
    """Those for clones: pipes to processes of Git, and locks."""
    return sum(str(one).startswith(('pipe:', str(clones))) for one in read_descriptors())


@pytest.mark.slow
def test_a_release_keeps_few_clones_open_and_ends_all_git_processes(
    store: Path, tmp_path: Path
) -> None:
    clones = store / 'clones'
    seen: list[tuple[int, int]] = []

    def step(name: str, done: int, total: int) -> None:
        if name.startswith('histories'):
            assert total == COUNT
            seen.append((readers(), descriptors(clones)))

    before = readers(), descriptors(clones)
    asked = ReleaseOptions(store=store, snapshot=tmp_path / 'snapshot')
    report = publish_release(asked, Listener(step=step))
    assert report.rows['pairs'] == COUNT
    assert len(seen) > COUNT
    assert max(count for count, _ in seen) - before[0] in range(1, MOST_OPEN + 1)
    # The one beside them is the file of names of all that are to stay.
    assert max(count for _, count in seen) - before[1] <= EACH * MOST_OPEN + 1
    assert (readers(), descriptors(clones)) == before
    assert not list(clones.glob('*.pins'))


@pytest.mark.slow
def test_a_month_of_many_repositories_is_identical_when_released_again(
    store: Path, tmp_path: Path
) -> None:
    """The second one has what the clones said from the month's record."""
    for name in ('one', 'other'):
        publish_release(
            ReleaseOptions(
                store=store,
                snapshot=tmp_path / name,
                month='2024-01',
                reached=datetime(2024, 3, 1, tzinfo=UTC),
            )
        )
    files = [
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob('*')
            if path.is_file() and 'timings' not in path.parts
        }
        for name in ('one', 'other')
    ]
    assert files[0] == files[1]


@pytest.mark.slow
def test_the_commits_of_released_tasks_are_kept_in_every_clone(store: Path, tmp_path: Path) -> None:
    publish_release(ReleaseOptions(store=store, snapshot=tmp_path / 'snapshot'))
    for number in range(COUNT):
        kept = run_git(
            locate_clone(store, f'shop/r{number:02}'), 'for-each-ref', 'refs/coevo/released'
        )
        assert len(kept.splitlines()) == 2
