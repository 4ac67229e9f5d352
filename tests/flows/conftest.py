from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.mining_runs import PAIRS
from tests.flows.mining_runs import released
from tests.folders import open_folder
from tests.projects import junit
from tests.projects import mined
from tests.projects import pom
from tests.projects import source
from tests.projects import write


@pytest.fixture(scope='module')
def work() -> Iterator[Path]:
    with open_folder() as folder:
        yield folder


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    steps = []
    for number in range(PAIRS + 1):
        # A new name: where a test does not compile nothing is run, which is cheaper.
        value = f'    public static int last{number}() {{ return {number}; }}\n'
        test = junit('TillTest', f'rings: assertEquals({number}, Till.last{number}());')
        steps.append({'pom.xml': pom(), **source('Till', value), **test})
    return write(tmp_path_factory.mktemp('shop') / 'repository', steps)


@pytest.fixture(scope='module')
def undisturbed(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The snapshot of a run that nothing happened to."""
    folder = tmp_path_factory.mktemp('undisturbed')
    found = mined(repository, folder / 'store')
    assert found.report.executed == PAIRS
    return released(folder / 'store')
