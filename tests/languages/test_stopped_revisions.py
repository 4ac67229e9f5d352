"""A revision that is stopped between two of its test files, and looked at again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.model.families import Family
from coevo.model.listener import Listener
from coevo.model.pair_rows import TimingRow
from coevo.model.profiles import FunctionRules
from coevo.model.segment import Segment
from coevo.model.words import Walk
from coevo.storage import durable
from coevo.storage.store import Store
from flows.options import MineOptions
from flows.pipeline import mine
from tests import projects
from tests.languages import toys
from tests.languages.table import known_toy
from tests.projects import QUICK, write

pytestmark = pytest.mark.usefixtures('toy')

STEP = 'test files of'
FILES = {
    **toys.BUILD,
    **toys.source('rates', 'vat: 7', 'expected_action: 3'),
    **toys.source('Bank', 'rent: 2'),
    **toys.source('Till', 'price: 1', 'tax: 5'),
    **toys.tests('Bank', 'rents: is Bank.rent 2'),
    **toys.tests('Rates', 'of_vat: is rates.vat 7', 'of_duty: is rates.expected_action 3'),
    **toys.tests('Till', 'prices: is Till.price 1', 'taxes: is Till.tax 5'),
}


@pytest.fixture(scope='module')
def repository(toy: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp('stopped') / 'repository', [FILES, {'README': 'two'}])


def asked(repository: Path, store: Path) -> MineOptions:
    profile = replace(
        QUICK, traces=True, measure_runs=100, functions=FunctionRules(least_complexity=0)
    )
    families = (Family.CLASS, Family.FUNCTION)
    return projects.options(
        repository, store, walk=Walk.SINGLE_REVISION, profile=profile, families=families
    )


def segment(options: MineOptions) -> Segment:
    with known_toy():
        (partition,) = mine(options).partitions
    (found,) = Store(options.store).load_current_segments(partition)
    return found


def mutants(found: Segment) -> TimingRow:
    (row,) = (row for row in found.timings if row.step == 'mutants')
    return row


def make_dear(folder: Path) -> int:
    """Let what is kept of each file say that its mutants took a thousand seconds; their number."""
    dear = 0
    for file in folder.glob('??/*'):
        kept = json.loads(durable.load_checksummed_removing_damaged(file) or b'')
        for one in kept.get('spent', ()):
            if one['step'] == 'mutants':
                one['cpu_seconds'] = 1000.0
                dear += 1
        durable.write_checksummed(file, json.dumps(kept).encode())
    return dear


def stop_at(file: int) -> Listener:
    def stop(name: str, done: int, total: int) -> None:
        assert total == 3 or not name.startswith(STEP)
        if name.startswith(STEP) and done == file:
            raise KeyboardInterrupt

    return Listener(step=stop)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(('file', 'over'), [(1, 1), (3, 2)])
def test_mining_of_a_stopped_revision_resumes_at_the_next_test_file(
    repository: Path, tmp_path: Path, file: int, over: int
) -> None:
    whole = segment(asked(repository, tmp_path / 'whole'))
    assert {row.family for row in whole.single_revision} == {Family.CLASS, Family.FUNCTION}
    options = asked(repository, tmp_path / 'stopped')
    with known_toy(), pytest.raises(KeyboardInterrupt):
        mine(options, stop_at(file))
    assert make_dear(options.execution_cache_folder) == over
    found = segment(options)
    assert replace(found, timings=(), pair=whole.pair) == replace(whole, timings=())
    assert mutants(found).count == mutants(whole).count
    assert mutants(found).cpu_seconds // 1000 == over
