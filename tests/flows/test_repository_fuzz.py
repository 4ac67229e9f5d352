"""Mutated repositories through walk, diff, filter and start states, and some through whole runs.

A commit, a file or a pair may be a drop; nothing may be a traceback, and nothing be written outside.
"""

from __future__ import annotations

import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.git.repository import CorruptObject, Repository, load_content
from coevo.languages.java.surgery import make_start_file, transplant_tests_into_old
from coevo.languages.surgery import Graft, OriginalTest, StartStateInvalid, StartTarget
from coevo.model.errors import Fatal
from coevo.model.records import Candidate, Pair
from coevo.model.words import MethodChange, Walk
from coevo.snapshots.verification import verify_snapshot
from coevo.storage.store import Store
from filters import filter_candidates
from flows.pipeline import mine
from miners.diffs.changes import diff_pair
from miners.walks.pairs import visit_route
from miners.walks.routes import Route
from tests.flows.mining_runs import released
from tests.fuzz import repositories
from tests.projects import NAME, QUICK, options

SHORT, LONG, RUN = 25, 500, 20
# What mining says of a history that cannot be read whole.
NO_RELEASE = 'a release cannot be made of it'


def read(git_dir: Path) -> int:
    """Everything that is done without executing anything; how many pairs there were."""
    repository, pairs = Repository(git_dir), dict[str, Pair]()
    for walk in Walk:
        with suppress(Fatal, CorruptObject):  # the head itself may be lost
            found = visit_route(
                repository, Route(repo=NAME, language='java', walk=walk, ref='HEAD')
            ).pairs
            pairs |= {pair.pair_id: pair for pair in found}
    for pair in pairs.values():
        with suppress(CorruptObject):
            kept, _ = filter_candidates(diff_pair(repository, pair), QUICK)
            for candidate in kept:
                start(repository, pair, candidate)
            repository.list_submodules(pair.new.rev)
            repository.measure_size(pair.new.rev)
    return len(pairs)


def start(repository: Repository, pair: Pair, candidate: Candidate) -> None:
    """The start file of a candidate, and the same put into the old file."""
    if (
        candidate.change not in (MethodChange.INSERTED, MethodChange.CHANGED)
        or candidate.new is None
    ):
        return
    new = load_content(repository, pair.new.rev, candidate.new.test_file)
    assert new is not None
    old = candidate.old and load_content(repository, pair.old.rev, candidate.old.test_file)
    original = OriginalTest(method=candidate.old, source=old) if candidate.old and old else None
    with suppress(StartStateInvalid):
        make_start_file(new, old, [StartTarget(method=candidate.new, original=original)])
    with suppress(StartStateInvalid):
        transplant_tests_into_old(old or new, new, [Graft(new=candidate.new, old=candidate.old)])


def check(numbers: range, folder: Path) -> int:
    found = 0
    for seed in numbers:
        place = folder / str(seed)
        try:
            found += read(repositories.write(seed, place))
        except Exception as bug:
            raise AssertionError(f'seed {seed}') from bug
    assert {place.name for place in folder.iterdir()} == set(map(str, numbers))
    return found


def test_reading_some_mutated_repositories_raises_no_bug(tmp_path: Path) -> None:
    assert check(range(SHORT), tmp_path) > 2 * SHORT


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize('part', range(5))
def test_reading_many_mutated_repositories_raises_no_bug(part: int, tmp_path: Path) -> None:
    each = LONG // 5
    check(range(SHORT + part * each, SHORT + (part + 1) * each), tmp_path)


@pytest.mark.jvm
@pytest.mark.slow
@pytest.mark.timeout(14400)
def test_mining_mutated_repositories_raises_no_bug_and_gives_a_valid_snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Executed, into one store: no bug, no trouble for ever; its release is good.

    A history with a hole cannot be dated. Mining says so, and no release is made until it is gone.
    """
    scratch = tmp_path / 'scratch'
    scratch.mkdir()
    monkeypatch.setattr(tempfile, 'tempdir', str(scratch))
    store, mined, undated = tmp_path / 'store', list[int](), list[str]()
    for seed in range(RUN):
        repository = repositories.write(seed, tmp_path / str(seed)).parent
        with suppress(Fatal):  # there may be no POM, or no head
            name = f'mutated/seed{seed}'
            report = mine(replace(options(repository, store), name=name))
            assert (seed, report.bugs, report.failures) == (seed, {}, {})
            assert Store(store).list_unmined_pairs(report.partitions[0]) == ()
            mined.append(seed)
            if any(NO_RELEASE in warning for warning in report.warnings):
                undated.append(name)
    assert len(mined) > RUN / 2
    if undated:
        with pytest.raises(Fatal, match=r'in the clone; delete the clone|if that clone is damaged'):
            released(store)
    for name in undated:
        shutil.rmtree(store / 'partitions' / name.replace('/', '+'))
    assert verify_snapshot(released(store)) == []
    assert not list(scratch.iterdir())
