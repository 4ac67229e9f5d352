"""Which repositories are worked on: what each step of the pipeline asks is one answer."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.storage.place import Root
from coevo.storage.store import Store
from flows.batches.batch import Verb
from flows.crawling.crawls import load_stamps_at
from flows.eligibility import (
    Obstacle,
    advance_unchanged_walks,
    check_not_withdrawn,
    find_due_repositories,
    index_candidates,
    load_eligibility,
)
from flows.pipeline import mine
from flows.validations import InvalidReason
from miners.discovery.candidates import CandidateReason
from tests.flows.crawling import crawled, github, many, row, rows, validated, withdraw, write_rows
from tests.languages import toys
from tests.languages.table import known_toy
from tests.projects import options, write

DAY = datetime(2024, 2, 1, tzinfo=UTC)
LATER = datetime(2024, 2, 2, tzinfo=UTC)


def write_world(store: Root) -> None:
    """A repository for each answer."""
    reasons = {
        'ada/good': None,
        'ada/taken-back': None,
        'ada/unproven': None,
        'ada/broken': None,
        'ada/deleted': CandidateReason.DELETED,
        'ada/blocked': CandidateReason.BLOCKED,
        'ada/emptied': CandidateReason.EMPTY,
        'ada/closed': CandidateReason.LICENCE_NOT_ACCEPTED,
        'ada/silent': CandidateReason.UNKNOWN,
    }
    write_rows(
        store,
        DAY,
        *(row(repo, number, DAY, reason=why) for number, (repo, why) in enumerate(reasons.items())),
    )
    for repo in reasons.keys() - {'ada/unproven', 'ada/broken'}:
        validated(store, repo)
    validated(store, 'ada/broken', reason=InvalidReason.DOES_NOT_BUILD)
    withdraw(store, 'ada/taken-back')


EXPECTED = {
    'ada/blocked': (Obstacle.GONE, 'GitHub blocks it'),
    'ada/broken': (Obstacle.INVALID, 'Not every module builds'),
    'ada/closed': (Obstacle.NOT_A_CANDIDATE, 'its licence is none of those'),
    'ada/deleted': (Obstacle.GONE, 'it was deleted or made private'),
    'ada/emptied': (Obstacle.NOT_A_CANDIDATE, 'it holds no commit'),
    'ada/good': (None, ''),
    'ada/silent': (Obstacle.UNANSWERED, 'GitHub did not answer'),
    'ada/taken-back': (Obstacle.WITHDRAWN, 'its owner asked for it'),
    'ada/unproven': (Obstacle.NOT_VALIDATED, 'it was not validated yet'),
}


def test_each_repository_has_its_first_obstacle(tmp_path: Path) -> None:
    write_world(tmp_path)
    known = load_eligibility(tmp_path)
    assert {repo: each.obstacle for repo, each in known.items()} == {
        repo: obstacle for repo, (obstacle, _) in EXPECTED.items()
    }
    for repo, (_, clause) in EXPECTED.items():
        assert known[repo].detail.startswith(clause)


def test_spread_asks_only_for_eligible_repositories(tmp_path: Path) -> None:
    write_world(tmp_path)
    assert find_due_repositories(tmp_path, Verb.MINE).repositories == ('ada/good',)
    assert find_due_repositories(tmp_path, Verb.VALIDATE).repositories == (
        'ada/broken',
        'ada/good',
        'ada/unproven',
    )


def test_a_profile_that_keeps_a_repository_outweighs_one_that_drops_it(tmp_path: Path) -> None:
    write_rows(tmp_path, DAY, row('ada/one', 1, DAY))
    dropped = row('ada/one', 1, LATER, reason=CandidateReason.TOO_FEW_CONTRIBUTORS)
    write_rows(tmp_path, LATER, dropped, profile='tam-eval')
    validated(tmp_path, 'ada/one')
    (known,) = load_eligibility(tmp_path).values()
    assert known.obstacle is None
    assert known.candidate is not None
    assert known.candidate.profiles == ('testevo',)


def test_crawls_of_a_day_are_the_latest_ones_until_then(tmp_path: Path) -> None:
    """A profile that was first crawled later counts by its first crawl."""
    for day in (1, 3, 5):
        write_rows(tmp_path, DAY.replace(day=day), row('ada/one', 1, DAY))
    for day in (4, 6):
        write_rows(tmp_path, DAY.replace(day=day), row('ada/one', 1, DAY), profile='tam-eval')
    stamps = load_stamps_at(tmp_path, DAY.replace(day=3, hour=1))
    assert stamps == {'testevo': '20240203T000000Z', 'tam-eval': '20240204T000000Z'}
    assert load_stamps_at(tmp_path / 'empty', DAY) == {}


def test_nothing_is_requested_about_a_withdrawn_repository(tmp_path: Path) -> None:
    with github(*many(2, license='MIT')) as server:
        crawled(server, tmp_path)
        withdraw(tmp_path, 'ada/r1')
        server.world[1].pushed_at = '2026-02-02T00:00:00Z'
        before = server.budgets.counted.copy()
        report = crawled(server, tmp_path)
        assert (server.budgets.counted - before)['core'] == 0
        assert rows(report)[1].reason is CandidateReason.WITHDRAWN
        assert report.kept == 1
        # what is taken back no more is asked for again
        next((tmp_path / 'withdrawals').iterdir()).unlink()
        assert crawled(server, tmp_path).kept == 2


@pytest.mark.parametrize('verb', [('mine',), ('pipeline', 'validate')])
def test_a_withdrawn_repository_is_not_even_cloned(
    tmp_path: Path, verb: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / 'store'
    withdraw(store, 'ada/taken-back')
    address = 'https://github.com/ada/taken-back'
    assert main([*verb, address, '--store', str(store)]) == 2
    told = capsys.readouterr().err
    assert 'ada/taken-back is withdrawn (its owner asked for it)' in told
    assert 'remove withdrawals/1.json' in told
    assert not (store / 'clones').exists()


def test_a_candidate_can_be_withdrawn_before_it_was_mined(tmp_path: Path) -> None:
    write_rows(tmp_path, DAY, row('ada/one', 1, DAY))
    words = ('pipeline', 'withdraw', '--store', str(tmp_path), '--reason', 'asked')
    assert main([*words, '--repository', 'ada/other']) == 2
    assert main([*words, '--repository', 'ada/one']) == 0
    with pytest.raises(Fatal, match='is withdrawn'):
        check_not_withdrawn(tmp_path, 'ada/one')


# What is mined on schedule: repositories to which nothing was pushed are not even asked.


def at(day: int) -> datetime:
    return datetime(2026, 2, day, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / 'store'


def test_repository_without_a_push_is_not_due_for_mining(tmp_path: Path, store: Path) -> None:
    repository = write(tmp_path / 'repository', [toys.BUILD, {**toys.BUILD, 'NOTES': 'none'}])
    with github(*many(2)) as server, known_toy():
        crawled(server, store, now=at(1))
        for name in ('ada/r1', 'ada/r2'):
            validated(store, name)
        asked = dataclasses.replace(
            options(repository, store),
            name='ada/r1',
            pushed=index_candidates(store)['ada/r1'].pushed_at,
            reached=at(2),
        )
        mine(asked)
        # The crawl was before the remote was asked: it says nothing of what came since.
        assert find_due_repositories(store, Verb.MINE).repositories == ('ada/r1', 'ada/r2')
        crawled(server, store, now=at(3))
        found = find_due_repositories(store, Verb.MINE)
        assert (found.repositories, found.unchanged) == (('ada/r2',), ('ada/r1',))
        assert find_due_repositories(store, Verb.MINE, 'another profile').unchanged == ()
        assert find_due_repositories(store, Verb.VALIDATE).repositories == ('ada/r1', 'ada/r2')

        advance_unchanged_walks(store, found.unchanged)
        (partition,) = Store(store).list_partitions()
        assert Store(store).load_walk(partition).reached == at(3)
        assert Store(store).load_states()[partition].reached == at(3)
        assert find_due_repositories(store, Verb.MINE) == found

        walk = Store(store).load_walk(partition)
        redone = dataclasses.replace(walk, keys=(*walk.keys, ('f' * 16, 'e' * 16)))
        redone = dataclasses.replace(redone, pairs=(*walk.pairs, ('f' * 40, 'f' * 16)))
        with_one_more = Store(tmp_path / 'other')
        with_one_more.merge_walk_into_stored(partition, redone)
        assert with_one_more.list_pairs_without_current_segment(partition) == ('f' * 16,)

        server.world[1].pushed_at = '2026-02-03T12:00:00Z'
        crawled(server, store, now=at(4))
        assert find_due_repositories(store, Verb.MINE).repositories == ('ada/r1', 'ada/r2')
        mine(
            dataclasses.replace(
                asked, pushed=index_candidates(store)['ada/r1'].pushed_at, until=at(1)
            )
        )
        # A walk that does not go to the end has not seen what was pushed.
        assert find_due_repositories(store, Verb.MINE).unchanged == ()


def test_validated_repository_is_due_again_only_after_a_push(store: Path) -> None:
    with github(*many(2)) as server, known_toy():
        crawled(server, store, now=at(1))
        pushed = index_candidates(store)['ada/r1'].pushed_at
        validated(store, 'ada/r1', pushed)
        validated(store, 'ada/r2')  # by hand: nobody had said when it was pushed to
        found = find_due_repositories(store, Verb.VALIDATE, sandbox='bubblewrap')
        assert (found.repositories, found.unchanged) == (('ada/r2',), ('ada/r1',))
        assert find_due_repositories(store, Verb.VALIDATE, sandbox='docker').unchanged == ()

        server.world[1].pushed_at = '2026-02-03T12:00:00Z'
        crawled(server, store, now=at(4))
        assert find_due_repositories(store, Verb.VALIDATE).unchanged == ()
    # Without the toy nobody knows by which engine it was proven.
    assert find_due_repositories(store, Verb.VALIDATE).unchanged == ()
