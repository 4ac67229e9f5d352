from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.mining_runs import PAIRS, released
from tests.flows.shops import Shop, opened
from tests.folders import open_folder
from tests.languages import toys
from tests.projects import write


@pytest.fixture(scope='module')
def work() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope='module')
def two_months(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """Pairs that end in January and in February."""
    return opened(tmp_path_factory.mktemp('months'))


@pytest.fixture
def shop(two_months: Shop, tmp_path: Path) -> Shop:
    """One's own copy of those."""
    shutil.copytree(two_months.folder, tmp_path / 'shop')
    return Shop(folder=tmp_path / 'shop')


def step(number: int, name: str) -> dict[str, str]:
    return {
        **toys.BUILD,
        **toys.source('Till', f'{name}: {number}'),
        **toys.tests('Till', f'rings: is Till.{name} {number}'),
    }


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    # A new name: where a test does not compile nothing is run, which is cheaper.
    steps = [step(number, f'last{number}') for number in range(PAIRS + 1)]
    return write(tmp_path_factory.mktemp('shop') / 'repository', steps)


@pytest.fixture(scope='module')
def undisturbed(toy: None, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of a run that nothing happened to."""
    folder = tmp_path_factory.mktemp('undisturbed')
    found = toys.mined(repository, folder / 'store')
    assert found.report.executed == PAIRS
    return released(folder / 'store')
