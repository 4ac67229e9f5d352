"""What `coevo pipeline status` says of a store, for few repositories and for many."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.words import Walk
from coevo.storage import leases
from coevo.storage.store import Partition, Store
from flows.batches.batch import JobFailure, name_repository_claim, write_failure_and_get_name
from flows.batches.contained import ChildExit
from flows.repository_states import RepositoryState
from flows.segment_keys import compute_mining_code_digest
from flows.status import survey_store
from flows.validations import InvalidReason
from miners.discovery.candidates import CandidateReason
from tests import segments
from tests.flows.crawling import row, validated, withdraw, write_rows

CRAWL = datetime(2024, 2, 1, tzinfo=UTC)
PUSHED = datetime(2024, 1, 20, tzinfo=UTC)
BY_HAND = 'hand/made'


def fail(store: Path, repo: str) -> None:
    ended = ChildExit(status=1, stop=None, complaint='it broke')
    failure = JobFailure(name=repo, verb='mine', run=None, sentence='it broke', ended=ended)
    write_failure_and_get_name(store, failure)


def mine(store: Path, repo: str) -> None:
    """Let the store have all of a repository, by the present code."""
    partition = Partition(repo=repo, language='java', walk=Walk.PARENTS)
    segments.fill_elsewhere(Store(store), repo, segments.segment(1, key='key-1'))
    walk = Store(store).load_walk(partition)
    code = compute_mining_code_digest('java').digest
    Store(store).merge_walk_into_stored(
        partition,
        dataclasses.replace(
            walk,
            repository=dataclasses.replace(walk.repository, engine_version=code),
            reached=PUSHED,
            pushed=PUSHED,
        ),
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A repository in each state, named by it."""
    reasons = {
        'a/gone': CandidateReason.BLOCKED,
        'a/dropped': CandidateReason.NO_LICENCE,
        'a/unanswered': CandidateReason.UNKNOWN,
    }
    for state in RepositoryState:
        reasons.setdefault(f'a/{state}', None)
    folder = tmp_path / 'store'
    rows = [
        row(repo, number, CRAWL, reason=reason, pushed_at=PUSHED)
        for number, (repo, reason) in enumerate(sorted(reasons.items()))
    ]
    write_rows(folder, CRAWL, *rows)
    for repo in reasons.keys() - {'a/waiting', 'a/invalid'}:
        validated(folder, repo)
    validated(folder, 'a/invalid', reason=InvalidReason.NO_TESTS)
    withdraw(folder, 'a/withdrawn')
    for repo in ('a/failed', 'a/done', 'a/gone'):
        fail(folder, repo)
    for repo in ('a/done', BY_HAND):
        mine(folder, repo)
    return folder


def claim(store: Path, repo: str) -> leases.Lease:
    terms = leases.LeaseTerms(seconds=60)
    return leases.take_lease(Store(store).storage, name_repository_claim(repo), terms)


def test_each_repository_has_one_state(store: Path) -> None:
    with claim(store, 'a/running'):
        states = survey_store(Store(store)).states
    assert states == {f'a/{state}': state for state in RepositoryState} | {
        BY_HAND: RepositoryState.DONE
    }


def test_a_failure_before_the_latest_push_does_not_count(store: Path) -> None:
    later = datetime(2100, 1, 1, tzinfo=UTC)
    write_rows(store, CRAWL.replace(day=2), row('a/failed', 5, CRAWL, pushed_at=later))
    assert survey_store(Store(store)).states['a/failed'] is RepositoryState.DUE


def test_a_repository_mined_by_older_code_is_due(store: Path) -> None:
    for repo in ('a/done', BY_HAND):
        partition = Partition(repo=repo, language='java', walk=Walk.PARENTS)
        walk = Store(store).load_walk(partition)
        older = dataclasses.replace(walk.repository, engine_version='older')
        Store(store).merge_walk_into_stored(partition, dataclasses.replace(walk, repository=older))
    states = survey_store(Store(store)).states
    assert (states['a/done'], states[BY_HAND]) == (RepositoryState.FAILED, RepositoryState.DUE)


def ask(store: Path, *words: str) -> int:
    return main(['pipeline', 'status', *words, '--store', str(store)])


def test_status_counts_states_and_lists_the_first_rows(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(store) == 0
    told = capsys.readouterr().out
    for state in RepositoryState:
        if state is not RepositoryState.RUNNING:
            assert (
                f'{2 if state in (RepositoryState.DUE, RepositoryState.DONE) else 1} {state}'
                in told
            )
    assert 'more are not shown' not in told
    assert ask(store, '--rows', '3') == 0
    told = capsys.readouterr().out
    assert '8 more are not shown: --state names all' in told
    assert 'hand/made' not in told


def test_status_names_all_repositories_in_a_state(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(store, '--state', 'done') == 0
    assert capsys.readouterr().out == 'a/done\nhand/made\n'
    assert ask(store, '--state', 'running') == 0
    assert capsys.readouterr().out == ''


def test_status_of_a_candidate_that_was_never_mined(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(store, 'a/waiting') == 0
    told = capsys.readouterr().out
    assert told.startswith('a/waiting: waiting, to be validated\n')
    assert 'next: validate it' in told
    assert ask(store, 'a/nobody') == 2


def test_status_of_a_month_names_what_it_lacks(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(store, '--month', '2024-01') == 1
    told = capsys.readouterr().out.splitlines()
    assert told == [
        '2024-01 is not released yet: 5 repositories, 5 missing',
        'a/done (known until 2024-01-20 only)',
        'a/due (not mined yet)',
        'a/failed (not mined yet)',
        'a/running (not mined yet)',
        'a/unanswered (not mined yet)',
        '1 candidate was not validated yet, so that the month does not count them',
    ]
    assert ask(store, '--month', 'soon') == 2
    assert ask(store, '--month', '2024-01', '--state', 'due') == 2


def test_status_of_a_month_without_repositories_says_why_and_who_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_rows(tmp_path, CRAWL, row('a/left', 1, CRAWL, pushed_at=PUSHED))
    validated(tmp_path, 'a/left')
    mine(tmp_path, 'a/left')
    withdraw(tmp_path, 'a/left')
    assert ask(tmp_path, '--month', '2024-01') == 1
    assert capsys.readouterr().out.splitlines() == [
        '2024-01 is not released yet: 0 repositories, 0 missing',
        'no repository of the crawls until its end is eligible and valid',
        'a/left is no longer worked on: withdrawn',
    ]


def test_a_repository_that_was_only_validated_by_hand_has_a_state(tmp_path: Path) -> None:
    validated(tmp_path, 'hand/good')
    validated(tmp_path, 'hand/bad', reason=InvalidReason.NO_TESTS)
    fail(tmp_path, 'hand/lost')
    assert survey_store(Store(tmp_path)).states == {
        'hand/lost': RepositoryState.FAILED,
        'hand/good': RepositoryState.DUE,
        'hand/bad': RepositoryState.INVALID,
    }


def test_an_empty_store_has_no_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert ask(tmp_path) == 0
    assert ask(tmp_path, '--month', '2024-01') == 0
    assert 'no crawl says which repositories it needs' in capsys.readouterr().out
