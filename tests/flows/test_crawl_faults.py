"""Crawls of a GitHub that fails: nothing is taken for an answer that is none."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.model.errors import Fatal, Transient
from coevo.model.listener import Listener
from flows.crawling.crawls import (
    list_stamps,
    load_latest_candidates,
    load_repositories,
    lock_crawls_or_raise_and_clean,
)
from miners.discovery.budgets import Clock
from miners.discovery.candidates import CandidateReason, load_candidate_profile
from tests.flows.crawling import contents, crawled, github, many, rows
from tests.github_server import Fault, Hosted

NOW = datetime(2026, 2, 1, 3, 0, 0, tzinfo=UTC)


def stopping_after(count: int) -> Listener:
    """Ctrl-C when so many repositories are done."""

    def step(name: str, done: int, total: int) -> None:
        if done == count:
            raise KeyboardInterrupt

    return Listener(step=step)


def test_a_crawl_with_server_faults_writes_the_same_bytes(tmp_path: Path) -> None:
    faults = [
        Fault(kind='secondary', seconds=1, skip=3, status=429),
        Fault(kind='half', path='search'),
        Fault(kind='status', status=502, path='/graphql', times=2),
        Fault(kind='garbage', path='contributors', skip=1),
        Fault(kind='reset', path='contributors', skip=4),
        Fault(kind='hang', path='repositories/5/', seconds=1.5),
        Fault(kind='primary', path='repositories/7/', seconds=0.1),
        Fault(kind='incomplete', path='search'),
    ]
    profile = load_candidate_profile('tam-eval')
    with github(*many(9)) as server:
        calm = crawled(server, tmp_path / 'calm', now=NOW, profile=profile)
        server.faults += faults
        wild = crawled(server, tmp_path / 'wild', now=NOW, profile=profile)
    assert all(fault.times == 0 for fault in faults)
    assert wild.unknown == 0
    assert contents(wild.folder) == contents(calm.folder)


UNANSWERED = {
    'root': Fault(kind='partial', path='/graphql', id=2, times=-1),
    'contributors': Fault(kind='status', status=500, path='/2/contributors', times=-1),
}


@pytest.mark.parametrize('part', UNANSWERED)
def test_a_repository_without_an_answer_stays_unknown_until_one_arrives(
    tmp_path: Path, part: str
) -> None:
    profile = load_candidate_profile('tam-eval')
    with github(*many(3)) as server:
        server.faults.append(UNANSWERED[part])
        first = crawled(server, tmp_path, profile=profile)
        kept = [one.github_id for one in load_latest_candidates(tmp_path)]
        server.faults.clear()
        second = crawled(server, tmp_path, profile=profile)
    unknown = rows(first)[2]
    assert (unknown.kept, unknown.reason) == (False, CandidateReason.UNKNOWN)
    assert unknown.unanswered == (part,)
    assert kept == [1, 3]
    assert (first.kept, first.unknown, first.proven) == (2, 1, True)
    assert (second.kept, second.unknown) == (3, 0)
    assert rows(second)[2].unanswered == ()


def test_known_facts_are_kept_while_the_server_does_not_answer(tmp_path: Path) -> None:
    with github(*many(3)) as server:
        crawled(server, tmp_path)
        server.world[2].pushed_at = '2026-02-02T00:00:00Z'
        server.faults.append(Fault(kind='partial', path='/graphql', id=2, times=-1))
        report = crawled(server, tmp_path)
    assert report.kept == 3
    assert rows(report)[2].unanswered == ('root',)
    assert report.events == ()


@pytest.mark.parametrize('meanwhile', ['no answer', 'too few stars'])
def test_a_pom_added_while_it_cannot_be_looked_up_is_found_later(
    tmp_path: Path, meanwhile: str
) -> None:
    with github(Hosted(id=1, owner='ada', name='a', files=('README.md',))) as server:
        crawled(server, tmp_path)
        server.world[1].files = ('README.md', 'pom.xml')
        server.world[1].pushed_at = '2026-02-02T00:00:00Z'
        if meanwhile == 'no answer':
            server.faults.append(Fault(kind='status', status=502, path='/graphql', times=-1))
        else:
            server.world[1].stars = 1
        between = crawled(server, tmp_path)
        server.faults.clear()
        server.world[1].stars = 1000
        later = crawled(server, tmp_path)
    reason = CandidateReason.UNKNOWN if meanwhile == 'no answer' else CandidateReason.TOO_FEW_STARS
    assert rows(between)[1].reason is reason
    assert later.kept == 1


def test_a_root_that_was_not_answered_is_asked_for_again(tmp_path: Path) -> None:
    with github(Hosted(id=1, owner='ada', name='a')) as server:
        crawled(server, tmp_path)
        server.world[1].files = ('README.md',)
        server.world[1].pushed_at = '2026-02-02T00:00:00Z'
        server.faults.append(Fault(kind='partial', path='/graphql', id=1))
        between = crawled(server, tmp_path)
        later = crawled(server, tmp_path)
    assert rows(between)[1].unanswered == ('root',)
    assert rows(later)[1].reason is CandidateReason.NO_BUILD_FILE


def test_roots_are_asked_for_in_one_request_and_only_after_a_push(tmp_path: Path) -> None:
    with github(*many(130), Hosted(id=200, owner='ada', name='bare', files=())) as server:
        first = crawled(server, tmp_path)
        unchanged = crawled(server, tmp_path)
        server.world[1].pushed_at = '2026-02-02T00:00:00Z'
        server.world[1].files = ('README.md',)
        server.world.rename(2, 'bob/another')
        pushed = crawled(server, tmp_path)
    assert [crawl.requests.counted['graphql'] for crawl in (first, unchanged, pushed)] == [2, 0, 1]
    assert [crawl.requests.counted['core'] for crawl in (first, unchanged, pushed)] == [0, 0, 0]
    assert (first.kept, unchanged.kept, pushed.kept) == (130, 130, 129)
    assert rows(pushed)[1].reason is CandidateReason.NO_BUILD_FILE
    assert rows(pushed)[200].reason is CandidateReason.EMPTY


def test_a_query_that_is_too_much_for_the_server_is_asked_in_parts(tmp_path: Path) -> None:
    with github(*many(50)) as server:
        server.most_repositories = 20
        report = crawled(server, tmp_path)
    assert (report.kept, report.unknown) == (50, 0)
    assert report.requests.counted['graphql'] == 4


def test_a_root_is_not_taken_from_another_repository_of_the_same_name(tmp_path: Path) -> None:
    with github(Hosted(id=1, owner='ada', name='a', files=('README.md',))) as server:

        def replace() -> None:
            if server.asked:  # after the search
                server.world.repositories = {2: Hosted(id=2, owner='ada', name='a')}

        server.before_each = replace
        report = crawled(server, tmp_path)
    assert rows(report)[1].reason is CandidateReason.UNKNOWN


def test_a_lookup_without_an_answer_does_not_count_as_deletion(tmp_path: Path) -> None:
    with github(*many(3)) as server:
        crawled(server, tmp_path)
        server.world[2].stars = 1
        server.faults.append(Fault(kind='reset', path='/repositories/2', times=-1))
        report = crawled(server, tmp_path)
        server.faults.clear()
        later = crawled(server, tmp_path)
    assert (rows(report)[2].reason, report.events) == (CandidateReason.UNKNOWN, ())
    assert rows(later)[2].reason is CandidateReason.TOO_FEW_STARS
    assert [one.kind for one in later.events] == ['gone_from_search']


def test_a_server_that_is_down_does_not_get_a_request_per_repository(tmp_path: Path) -> None:
    with github(*many(40)) as server:
        server.faults.append(Fault(kind='status', status=503, path='/graphql', times=-1))
        report = crawled(server, tmp_path)
        assert report.unknown == 40
        assert server.statuses[503] <= 9
        server.faults.clear()
        assert crawled(server, tmp_path).kept == 40


def test_a_failed_search_leaves_no_crawl(tmp_path: Path) -> None:
    with github(*many(3)) as server:
        first = crawled(server, tmp_path)
        server.faults.append(Fault(kind='half', path='/search', times=-1))
        with pytest.raises(Transient):
            crawled(server, tmp_path)
    assert list_stamps(tmp_path) == (first.stamp,)


def test_a_clock_set_back_does_not_change_the_order_of_crawls(tmp_path: Path) -> None:
    with github(*many(1)) as server:
        first = crawled(server, tmp_path, now=NOW)
        second = crawled(server, tmp_path, clock=Clock(wall=lambda: 0.0))
    assert (
        list_stamps(tmp_path)
        == (first.stamp, second.stamp)
        == ('20260201T030000Z', '20260201T030001Z')
    )


def test_a_second_crawl_of_a_store_is_refused_while_one_runs(tmp_path: Path) -> None:
    with (
        github(*many(1)) as server,
        lock_crawls_or_raise_and_clean(tmp_path),
        pytest.raises(Fatal, match='is running'),
    ):
        crawled(server, tmp_path)


def test_a_tampered_crawl_table_is_refused_as_damaged(tmp_path: Path) -> None:
    with github(*many(1)) as server:
        report = crawled(server, tmp_path)
    table = Path(report.folder) / 'repositories.parquet'
    table.write_bytes(table.read_bytes()[:-1] + b'x')
    with pytest.raises(Fatal, match='damaged'):
        load_repositories(tmp_path, report.stamp)


def test_an_interrupted_crawl_resumes_without_spending_requests_again(tmp_path: Path) -> None:
    hosted = [*many(8), Hosted(id=9, owner='ada', name='gradle', files=('build.gradle',))]
    profile = load_candidate_profile('tam-eval')
    with github(*hosted) as server:
        undisturbed = crawled(server, tmp_path / 'calm', now=NOW, profile=profile)
        store = tmp_path / 'store'
        with pytest.raises(KeyboardInterrupt):
            crawled(server, store, now=NOW, profile=profile, listener=stopping_after(5))
        assert load_latest_candidates(store) == ()
        report = crawled(server, store, now=NOW, profile=profile)
    assert report.requests.unchanged == 5
    assert report.requests.counted['core'] == 3
    assert report.requests.counted['graphql'] == 1
    assert contents(report.folder) == contents(undisturbed.folder)
    assert [path.name for path in (store / 'crawls').iterdir() if path.is_file()] == ['lock']
