"""Which repositories are worked on: what each step of the pipeline asks is one answer."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.errors import Fatal
from coevo.storage.place import Root
from flows.batches.batch import Verb
from flows.candidates import find_due_repositories
from flows.crawling.crawls import load_stamps_at
from flows.eligibility import Obstacle, check_not_withdrawn, load_eligibility
from flows.validations import InvalidReason
from miners.discovery.candidates import CandidateReason
from tests.flows.crawling import crawled, github, many, row, rows, validated, withdraw, write_rows

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
