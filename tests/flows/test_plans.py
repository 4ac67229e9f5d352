"""What `coevo mine --dry` and `coevo pipeline rank` say would be run, and that this is what is run."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.profiles import load_profile
from coevo.model.reasons import DiffReason, Reason
from coevo.model.words import MethodChange, Stage
from flows.plans import plan_mining
from tests.languages import toys
from tests.languages.toys import BUILD
from tests.projects import Mined, options, write

GATED = replace(load_profile('quick'), gate_share=0.15)
TESTS = ('follows: is Till.price 1', 'stays: is Till.stays 3')
STEPS = [
    {**BUILD, **toys.source('Till', 'price: 1', 'stays: 3'), **toys.tests('Till', *TESTS)},
    toys.source('Till', 'price: 1', 'stays: 3', 'tax: 5'),
    {
        **toys.source('Till', 'price: 2', 'stays: 3', 'tax: 5'),
        **toys.tests('Till', 'follows: is Till.price 2', TESTS[1]),
    },
    {'README.md': 'A shop.\n'},
]


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp('plans') / 'repository', STEPS)


@pytest.fixture(scope='module')
def found(toy: None, repository: Path) -> Mined:
    return toys.mined(repository, repository.with_name('store'), profile=GATED)


def test_a_plan_names_the_tests_that_are_run_then_and_the_reasons_of_the_others(
    toy: None, repository: Path, tmp_path: Path, found: Mined
) -> None:
    (plan,) = plan_mining(options(repository, tmp_path / 'store', profile=GATED))
    assert [dict(pair.tests) for pair in plan.pairs] == [{MethodChange.CHANGED: 1}, {}]
    assert plan.pairs[1].reasons == {DiffReason.NO_TEST_CHANGE: 1}
    assert plan.walk_reasons == {Reason.NO_CODE_CHANGE: 1, Reason.ROOT_COMMIT: 1}
    assert (plan.visited, plan.pairs_to_run_per_commit) == (4, 1 / 4)
    run = Counter((row.pair_id, row.change) for row in found.methods)
    assert run == {
        (pair.pair.pair_id, change): count
        for pair in plan.pairs
        for change, count in pair.tests.items()
    }
    dropped = [drop for drop in found.drops if drop.stage is Stage.PAIR]
    assert [(drop.reason, drop.key) for drop in dropped] == [
        (DiffReason.NO_TEST_CHANGE, plan.pairs[1].pair.pair_id)
    ]
    (row,) = (pair for pair in found.pairs if pair.pair_id == plan.pairs[0].pair.pair_id)
    assert (row.tests_compared, row.candidates, row.tests_alike, row.tests_undrawn) == (2, 1, 0, 1)


def test_a_plan_knows_what_the_store_has_and_writes_nothing_but_the_clone(
    toy: None, repository: Path, tmp_path: Path, found: Mined
) -> None:
    (plan,) = plan_mining(options(repository, found.store, profile=GATED))
    assert [pair.is_known for pair in plan.pairs] == [True, True]
    empty = tmp_path / 'store'
    (plan,) = plan_mining(options(repository, empty, profile=GATED))
    assert [pair.is_known for pair in plan.pairs] == [False, False]
    assert [path.name for path in empty.iterdir()] == ['clones']


def test_repositories_are_ranked_by_pairs_to_run_for_their_commits(
    toy: None, repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    calm = write(tmp_path / 'calm', [STEPS[0], STEPS[1]])
    words = ['pipeline', 'rank', str(calm), str(tmp_path / 'none'), str(repository)]
    assert main([*words, '--store', str(tmp_path / 'store')]) == 2
    printed = capsys.readouterr()
    assert 'neither a Git repository here' in printed.err
    rows = [line for line in printed.out.splitlines() if 'toy' in line]
    assert [line.split()[1] for line in rows] == ['local/repository', 'local/calm']


def test_a_dry_run_prints_pairs_and_refuses_single_revisions(
    toy: None, repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['mine', str(repository), '--dry', '--store', str(tmp_path / 'store')]
    assert main(words) == 0
    printed = capsys.readouterr().out
    assert '1 have tests to run' in printed
    assert '1 changed' in printed
    assert DiffReason.NO_TEST_CHANGE in printed
    assert main([*words, '--family', 'class']) == 2


def test_a_dry_run_says_which_pairs_have_too_many_tests(
    toy: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = toys.tests('Till', 'follows: is Till.price 2', 'stays: is Till.stays 4')
    code = toys.source('Till', 'price: 2', 'stays: 4')
    repository = write(tmp_path / 'busy', [STEPS[0], {**code, **changed}])
    settings = tmp_path / 'settings.toml'
    words = ['mine', str(repository), '--dry', '--store', str(tmp_path / 'store')]
    for most, waits in ((1, 1), (2, 0)):
        settings.write_text(f'most_tests = {most}\n')
        assert main([*words, '--settings', str(settings)]) == 0
        printed = capsys.readouterr().out
        assert printed.count('2 changed, waits') == waits
        assert printed.count('1 pair waits, with 2 tests to run') == waits


def test_an_empty_store_has_nothing_to_rank(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['pipeline', 'rank', '--store', str(tmp_path)]) == 2
    assert 'knows no candidates' in capsys.readouterr().err
