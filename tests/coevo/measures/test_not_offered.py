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
from coevo.languages.placebos import PlaceboKind
from coevo.languages.table import LANGUAGES
from coevo.languages.table import measures
from coevo.languages.table import not_offered
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.edited_cells import GoldTest
from coevo.measures.mutants import measure_mutants
from coevo.measures.placebos import placebo
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised
from coevo.model.quality import ReversalStatus
from coevo.model.records import Pair
from coevo.model.records import TestMethod
from coevo.model.words import Walk
from tests.languages import toy
from tests.languages.table import known_toy
from tests.repos import commit
from tests.repos import init

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
        old=repository.commit('HEAD^'),
        new=repository.commit('HEAD'),
        old_is_ancestor=True,
    )
    with known_toy(), pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setattr(toy, 'MEASURES', Measures())
        run = RunSettings(repository=repository, sandbox='bubblewrap')
        builder = LANGUAGES['toy'].engine(run, stack).builder()
        stack.callback(builder.close)
        built = builder.build(pair)
        assert built.new.summary == 'built'
        yield EditedCellRunner(built=built, repository=repository)


def test_what_cannot_be_undone_is_not_offered_which_is_not_that_it_was_not_run(
    runner: EditedCellRunner,
) -> None:
    for most_runs in (None, 0):
        (row,) = measure_reversals(runner, [TEST], most_runs)

        assert row.status is ReversalStatus.NOT_OFFERED
        assert row.outcome is None
        assert row.declaration == 'price'


def test_no_mutant_is_drawn(runner: EditedCellRunner) -> None:
    found = measure_mutants(runner, [TEST])

    assert found.rows == ()
    assert found.mutations == {'prices': None}


def test_no_placebo_is_put_in(runner: EditedCellRunner) -> None:
    assert placebo(runner.repository, runner.pair, [PRICE], PlaceboKind.MOVED, Random(1)) == ()


def test_a_language_says_what_it_lacks(runner: EditedCellRunner) -> None:
    everything = ('assertions', 'defects', 'errors', 'mutation', 'placebos', 'smells', 'undoing')

    assert measures('toy').lacking == everything
    assert set(everything) < set(not_offered('toy'))
    assert not_offered('java') == ()
    assert measures('java').lacking == ()
    assert Measures(smells=measures('java').smells).lacking == (
        'assertions',
        'defects',
        'errors',
        'mutation',
        'placebos',
        'undoing',
    )
