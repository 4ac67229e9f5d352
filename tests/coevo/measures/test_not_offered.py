"""What is measured with a language that offers nothing to measure with: an answer of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from coevo.git.repository import Repository
from coevo.languages.engine import RunSettings
from coevo.languages.measures import Measures
from coevo.languages.table import LANGUAGES, get_measures, list_lacking_capabilities
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.mutants import measure_mutants
from coevo.measures.placebos import PLAIN_EDITS, make_placebo
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Dependency, Revised
from coevo.model.quality import ReversalStatus
from coevo.model.records import Pair, TestMethod
from coevo.model.words import Walk
from tests.languages import toy
from tests.languages.table import known_toy
from tests.repos import commit, init

PRICE = Dependency(
    declaration='price',
    file='till.toy',
    start_line=2,
    end_line=2,
    revised=Revised.MODIFIED,
    rank=1,
)
TEST = GoldTest(
    method_id='prices',
    method=TestMethod(
        module='.', test_file='test_till.toy', test_class='shop.TillTest', test_method='prices'
    ),
    dependencies=(PRICE,),
)


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[EditedCellRunner]:
    """A pair of a language that offers nothing, built for real."""
    root = init(tmp_path / 'repository')
    tests = '[shop.TillTest]\nprices: is Till.price 2\n'
    commit(root, 'old', {'toy.build': '', 'till.toy': '[shop.Till]\nprice: 1\n'})
    commit(root, 'new', {'till.toy': '[shop.Till]\nprice: 2\n', 'test_till.toy': tests})
    repository = Repository(root / '.git')
    pair = Pair(
        repo='local/shop',
        language='toy',
        walk=Walk.PARENTS,
        old=repository.get_commit('HEAD^'),
        new=repository.get_commit('HEAD'),
        old_is_ancestor=True,
    )
    with known_toy(), pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(toy, 'MEASURES', Measures())
        run = RunSettings(repository=repository, sandbox='bubblewrap')
        builder = LANGUAGES['toy'].make_engine(run, stack).make_builder()
        stack.callback(builder.close)
        built = builder.build(pair)
        assert built.new.built_or_first_failure == 'built'
        yield EditedCellRunner(built=built, repository=repository)


def test_reversals_without_language_support_are_not_offered_rather_than_not_run(
    runner: EditedCellRunner,
) -> None:
    for most_runs in (None, 0):
        (row,) = measure_reversals(runner, [TEST], most_runs)

        assert row.status is ReversalStatus.NOT_OFFERED
        assert row.outcome is None
        assert row.declaration == 'price'


def test_a_language_without_mutation_support_gets_no_mutants(runner: EditedCellRunner) -> None:
    found = measure_mutants(runner, [TEST])

    assert found.rows == ()
    assert found.mutations == {'prices': None}


def test_a_language_without_placebo_support_gets_no_placebo(runner: EditedCellRunner) -> None:
    assert make_placebo(runner.repository, runner.pair, [PRICE], PLAIN_EDITS[0], Random(1)) == ()


def test_a_language_lists_the_measures_it_lacks(runner: EditedCellRunner) -> None:
    everything = ('assertions', 'defects', 'errors', 'mutation', 'placebos', 'smells', 'undoing')

    assert get_measures('toy').lacking_measures == everything
    assert set(everything) < set(list_lacking_capabilities('toy'))
    assert list_lacking_capabilities('java') == ()
    assert get_measures('java').lacking_measures == ()
    assert Measures(smells=get_measures('java').smells).lacking_measures == (
        'assertions',
        'defects',
        'errors',
        'mutation',
        'placebos',
        'undoing',
    )
