"""A short version of the campaign of faults (`python -m benchmarks.faults`)."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

from tests.faults.chain import JAVA, STEPS, Chain, Stage, same, staged
from tests.faults.kinds import KINDS
from tests.folders import open_folder

pytestmark = pytest.mark.jvm

# Their parts have tests of their own: crawls, clones and interrupted runs.
CHOSEN = ('kill_runner', 'git_trouble', 'api_trouble', 'clock_jump', 'kill_flow')


@pytest.fixture(scope='module')
def stage() -> Iterator[Stage]:
    with open_folder() as folder, staged(folder) as found:
        yield found


@pytest.fixture(scope='module')
def undisturbed(stage: Stage) -> Chain:
    chain = Chain(stage=stage, folder=stage.folder / 'undisturbed')
    assert chain.run_all() == (0,) * len(STEPS), (chain.folder / 'log').read_text()
    tasks = pq.read_metadata(chain.snapshot / 'data' / 'tasks' / 'update.parquet')
    assert tasks.num_rows == JAVA.pairs
    return chain


@pytest.mark.slow
@pytest.mark.parametrize('kind', CHOSEN)
def test_a_run_after_a_fault_gives_the_same_result_as_an_undisturbed_one(
    stage: Stage, undisturbed: Chain, kind: str
) -> None:
    chain = Chain(stage=stage, folder=stage.folder / kind)
    chain.folder.mkdir()
    done = KINDS[kind](chain, random.Random(kind))
    assert not chain.left_running(), done
    assert chain.run_all() == (0,) * len(STEPS), done + (chain.folder / 'log').read_text()
    assert same(undisturbed, chain) == [], done
    assert not list(chain.work.iterdir())
