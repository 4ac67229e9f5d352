"""A bug of ours ends the pair in hand and nothing else. Here one is put in for a single revision."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.git.repository import Repository
from coevo.model.errors import Bug, Fatal, Transient, catch_bug
from coevo.model.profiles import Gate
from coevo.model.records import Pair
from coevo.model.words import Walk
from coevo.snapshots.verification import verify_snapshot
from coevo.storage import documents
from coevo.storage.store import Partition, Store
from flows import cohorts, mining
from flows.pipeline import mine
from miners.diffs.changes import PairChange, diff_pair
from tests.flows.mining_runs import released
from tests.projects import NAME, QUICKLY, options, pom, source, write
from tests.repos import git

PARTITION = Partition(repo=NAME, language='java', walk=Walk.PARENTS)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Four pairs of which none has a test: nothing is executed."""
    bodies = [f'    public static int one() {{ return {n}; }}\n' for n in range(5)]
    steps = [source('Till', body) for body in bodies]
    steps[0]['pom.xml'] = pom()
    return write(tmp_path / 'repository', steps)


@pytest.fixture
def hit(repository: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The new revision of the pair that nothing but a mended coevo can mine."""
    rev = git(repository, 'rev-parse', 'HEAD~1').strip()

    def broken(clone: Repository, pair: Pair, gate: Gate | None = None) -> PairChange:
        if pair.new.rev == rev:
            return {}['$Outer']  # type: ignore[no-any-return, misc]
        return diff_pair(clone, pair, gate)

    monkeypatch.setattr(mining, 'diff_pair', broken)
    return rev


def test_bug_in_mining_ends_only_its_pair(repository: Path, hit: str, tmp_path: Path) -> None:
    report = mine(options(repository, tmp_path / 'store'))
    assert (report.pairs, report.executed, report.failures) == (4, 3, {})
    ((pair_id, shown),) = report.bugs.items()
    record = json.loads(Path(shown).read_text())
    assert Path(shown).is_relative_to(tmp_path / 'store' / 'failures')
    assert (record['pair_id'], record['new_rev'], record['sentence']) == (
        pair_id,
        hit,
        "KeyError: '$Outer'",
    )
    assert 'Traceback (most recent call last)' in record['traceback']
    store = Store(tmp_path / 'store')
    assert store.list_unmined_pairs(PARTITION) == (pair_id,)
    assert pair_id not in {
        segment.pair.pair_id for segment in store.load_current_segments(PARTITION)
    }
    assert not [drop for drop in store.load_walk(PARTITION).drops if drop.key == pair_id]


def test_release_beside_a_bug_is_valid_and_counts_the_unmined_pair(
    repository: Path, hit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine(options(repository, tmp_path / 'store'))
    snapshot = released(tmp_path / 'store')
    assert verify_snapshot(snapshot) == []
    manifest = json.loads((snapshot / 'manifest.json').read_text())
    assert [walk['pairs_unmined'] for walk in manifest['walks']] == [1]
    again = ['--store', str(tmp_path / 'store'), '--snapshot', str(tmp_path / 'again')]
    assert main(['release', *again]) == 0
    assert '1 pair of' in capsys.readouterr().out


def test_same_build_retries_a_bug_only_on_request(
    repository: Path, hit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = options(repository, tmp_path / 'store')
    first = mine(plain)
    monkeypatch.setattr(mining, 'diff_pair', diff_pair)
    held = mine(plain)
    assert (held.executed, held.reused, held.bugs) == (0, 3, first.bugs)
    again = mine(replace(plain, retry_bugs=True))
    assert (again.executed, again.bugs) == (1, {})
    assert not list((tmp_path / 'store' / 'failures').rglob('*.json'))
    assert Store(tmp_path / 'store').list_unmined_pairs(PARTITION) == ()


def test_another_build_retries_a_bug(
    repository: Path, hit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = options(repository, tmp_path / 'store')
    mine(plain)
    monkeypatch.setattr(cohorts, 'identify_mining_build', lambda: 'another')
    met = mine(plain)
    assert len(met.bugs) == 1
    ((_, shown),) = met.bugs.items()
    assert json.loads(Path(shown).read_text())['build'] == 'another'
    monkeypatch.setattr(mining, 'diff_pair', diff_pair)
    monkeypatch.setattr(cohorts, 'identify_mining_build', lambda: 'a third')
    assert (mine(plain).executed, mine(plain).bugs) == (1, {})


def test_mine_command_with_a_bug_ends_with_status_1_and_one_sentence(
    repository: Path, hit: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ['mine', str(repository), '--name', NAME, '--store', str(tmp_path / 'store'), *QUICKLY]
    for _ in range(2):
        assert main(words) == 1
        told = capsys.readouterr().out
        assert told.count('1 pair ends in a bug of coevo and counts as unmined') == 1
        assert 'retry_bugs' in told
        assert 'Traceback' not in told


def test_build_is_identified_by_its_code(tmp_path: Path) -> None:
    one, other = tmp_path / 'one' / 'code', tmp_path / 'other' / 'code'
    for folder, text in ((one, 'a = 1'), (other, 'a = 2')):
        folder.mkdir(parents=True)
        (folder / 'module.py').write_text(text)
    assert (
        len(
            {
                documents.identify_build(one),
                documents.identify_build(other),
                documents.identify_build(),
            }
        )
        == 3
    )
    (other / 'module.py').write_text('a = 1')
    documents.identify_build.cache_clear()
    assert documents.identify_build(one) == documents.identify_build(other)


def test_machine_trouble_and_bad_input_are_no_bugs() -> None:
    def full() -> None:
        raise OSError(errno.ENOSPC, 'No space left on device')

    def wrong() -> None:
        raise OSError(errno.ENAMETOOLONG, 'File name too long')

    def refuse() -> None:
        raise Fatal('that is bad input')

    with pytest.raises(Transient):
        catch_bug(full)
    with pytest.raises(Fatal):
        catch_bug(refuse)
    assert isinstance(catch_bug(wrong), Bug)
