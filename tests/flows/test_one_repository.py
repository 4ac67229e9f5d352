"""What a maintainer does with one repository: mine it again, take something back, see how it is."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from coevo.command.main import main
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from tests.flows.mining_runs import OF_TOYS, different
from tests.flows.shops import Shop, opened
from tests.languages.table import known_toy
from tests.projects import NAME

UNTIL = ('--reached', '2024-03-31')


@pytest.fixture(scope='module')
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """Its first month is released."""
    with known_toy():
        shop = opened(tmp_path_factory.mktemp('one'))
        assert shop.release('first', '2024-01') == 0
        yield shop


@pytest.fixture
def shop(first: Shop, tmp_path: Path) -> Shop:
    shutil.copytree(first.folder, tmp_path / 'shop')
    return Shop(folder=tmp_path / 'shop')


def second(shop: Shop, *more: str) -> int:
    previous = ('--previous', str(shop.folder / 'first'))
    return shop.release('second', '2024-02', *UNTIL, *previous, *more)


def withdraw(shop: Shop, *words: str) -> int:
    return main(['pipeline', 'withdraw', *words, '--store', str(shop.folder / 'store')])


@pytest.mark.slow
def test_mining_again_replaces_every_segment_but_no_released_month(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with known_toy():
        shop = opened(tmp_path)
        assert shop.release('first', '2024-01') == 0
        store = Store(shop.folder / 'store')
        before = store.list_keys(OF_TOYS)
        for words, told in (
            (('--again',), '2 mined now, 0 known before'),
            ((), '0 mined now, 2 known before'),
        ):
            capsys.readouterr()
            assert shop.mine(*words) == 0
            assert told in capsys.readouterr().out
        assert len(store.list_keys(OF_TOYS) - before) == 2
        counts = {segment.key for segment in store.load_current_segments(OF_TOYS)}
        assert counts.isdisjoint(before)  # what came out last is what counts

        # a run that breaks off has asked already, and the next one, whoever starts it, does the rest
        walk = store.load_walk(OF_TOYS)
        (one, number), *_ = walk.again
        store.merge_walk_into_stored(OF_TOYS, dataclasses.replace(walk, again=((one, number + 1),)))
        assert shop.mine() == 0
        assert '1 mined now, 1 known before' in capsys.readouterr().out

        # what is released stays what it was
        assert shop.release('again', '2024-01') == 0
        assert different(shop.folder / 'first', shop.folder / 'again') == []


def change_basis(shop: Shop, **changed: Any) -> None:
    """Let the store say that its pairs were mined by something else."""
    (file,) = (shop.folder / 'store/bases').iterdir()
    basis = json.loads(file.read_bytes())
    file.write_text(json.dumps({**basis, **changed}) + '\n')


def ask_status(shop: Shop, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert main(['pipeline', 'status', NAME, '--store', str(shop.folder / 'store')]) == 0
    return capsys.readouterr().out


def test_status_names_the_code_that_makes_pairs_stale(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 'stale' not in ask_status(shop, capsys)
    (file,) = (shop.folder / 'store/bases').iterdir()
    parts = [part for part in json.loads(file.read_bytes())['parts'] if part[0] != 'filters.gap']
    change_basis(shop, code='an older one', parts=parts)
    told = ask_status(shop, capsys)
    assert '2 pairs are stale: the code of filters.gap changed\n' in told
    assert 'next: mine it again: 2 pairs are stale' in told


def test_status_of_a_store_says_how_much_is_stale_and_why(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['pipeline', 'status', '--store', str(shop.folder / 'store')]
    assert main(words) == 0
    assert 'are stale' not in capsys.readouterr().out
    (file,) = (shop.folder / 'store/bases').iterdir()
    parts = [part for part in json.loads(file.read_bytes())['parts'] if part[0] != 'filters.gap']
    change_basis(shop, code='an older one', parts=parts)
    assert main(words) == 0
    assert f'2 pairs of {NAME} are stale: the code of filters.gap changed' in ' '.join(
        capsys.readouterr().out.split()
    )


def test_status_names_the_tool_that_makes_pairs_stale(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    (file,) = (shop.folder / 'store/bases').iterdir()
    tools = json.loads(file.read_bytes())['tools']
    change_basis(shop, tools=['lizard 1.0', *tools[1:]])
    assert '2 pairs are stale: tools changed: lizard 1.' in ask_status(shop, capsys)


def test_pairs_of_an_unknown_basis_are_stale(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.rmtree(shop.folder / 'store/bases')
    told = ask_status(shop, capsys)
    assert '2 pairs are stale: it is not known by which code they were mined' in told


@pytest.mark.sampled(1)
@pytest.mark.parametrize('kind', ['repository', 'pair', 'task'])
def test_a_withdrawn_repository_pair_or_task_is_left_out_from_the_next_month(
    shop: Shop, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (task,) = shop.table('first', 'tasks')
    id_ = {'repository': NAME, 'pair': task['pair_id'], 'task': task['task_id']}[kind]
    reason = ('--reason', ' its  owners asked\n')
    assert withdraw(shop, f'--{kind}', id_, *reason) == 0
    assert f'{kind} {id_} is left out of releases from the next month on' in capsys.readouterr().out
    assert second(shop) == 0
    assert verify_snapshot(shop.folder / 'second') == []
    (row,) = shop.table('second', 'withdrawn')
    assert (row['table'], row['id'], row['month']) == ('tasks', task['task_id'], '2024-02')
    assert row['reason'].endswith('withdrawn: its owners asked')
    left = {row['new_rev'] for row in shop.table('second', 'methods')}
    assert len(left) == {'repository': 0, 'pair': 1, 'task': 2}[kind]
    assert len(shop.table('second', 'tasks')) == (0 if kind == 'repository' else 1)
    assert shop.manifest('second')['news'][0]['withdrawn'] == 1

    assert shop.release('again', '2024-01') == 0
    assert different(shop.folder / 'first', shop.folder / 'again') == []


@pytest.mark.parametrize(
    ('words', 'sentence'),
    [
        (('--repository', 'no/body', '--reason', 'x'), "holds nothing of 'no/body'"),
        (('--pair', '0' * 16, '--reason', 'x'), f"has no pair '{'0' * 16}'"),
        (('--task', '0' * 16, '--reason', 'x'), f"has no task '{'0' * 16}'"),
        (('--repository', NAME, '--reason', ' '), '--reason is empty'),
        (('--repository', NAME), '--reason'),
        (('--reason', 'x'), '--repository --pair --task'),
    ],
)
def test_a_withdrawal_with_invalid_arguments_is_refused(
    first: Shop, words: tuple[str, ...], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert withdraw(first, *words) == 2
    assert sentence in capsys.readouterr().err
    assert not (first.folder / 'store' / 'withdrawals').exists()


def test_reverify_runs_the_labels_of_one_repository(
    first: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (
        'pipeline',
        'reverify',
        '--store',
        str(first.folder / 'store'),
        '--sample',
        '1',
        '--only-repository',
    )
    assert main([*words, 'no/body']) == 2
    assert "holds nothing of 'no/body'" in capsys.readouterr().err
    assert main([*words, NAME]) == 0
    assert '1 of 2 labels drawn: 1 hold' in capsys.readouterr().out


def test_status_shows_the_pairs_the_cost_and_the_next_step_of_a_repository(
    shop: Shop, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ('pipeline', 'status', '--store', str(shop.folder / 'store'))
    assert main(words) == 0
    told = capsys.readouterr().out
    assert NAME in told
    assert 'months released: 2024-01' in told
    assert main([*words, NAME]) == 0
    told = capsys.readouterr().out
    assert '2 pairs, 0 not mined' in told
    assert 'CPU seconds: ' in told
    assert 'next: nothing until it has new commits' in told
    store = Store(shop.folder / 'store')
    walk = store.load_walk(OF_TOYS)
    store.merge_walk_into_stored(
        OF_TOYS, dataclasses.replace(walk, drops=(), pairs=(*walk.pairs, ('f' * 40, 'f' * 16)))
    )
    assert (
        withdraw(shop, '--task', shop.table('first', 'tasks')[0]['task_id'], '--reason', 'no') == 0
    )
    assert main([*words, NAME]) == 0
    assert 'next: mine it again: 1 pair is not mined' in capsys.readouterr().out
    assert main(words) == 0
    assert 'withdrawn: task ' in capsys.readouterr().out
    assert main([*words, 'no/body']) == 2
