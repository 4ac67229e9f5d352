"""What a crawl keeps, drops and writes down."""

from __future__ import annotations

from pathlib import Path

import pytest

from flows.crawling.crawls import list_stamps, load_latest_candidates
from miners.discovery.candidates import CandidateReason, load_candidate_profile
from tests.flows.crawling import crawled, github, rows
from tests.github_server import Hosted


def test_each_repository_is_kept_or_dropped_for_a_reason(tmp_path: Path) -> None:
    hosted = [
        Hosted(id=1, owner='ada', name='good', license='MIT'),
        Hosted(id=2, owner='ada', name='gradle', files=('build.gradle',)),
        Hosted(id=3, owner='ada', name='empty', files=()),
        Hosted(id=4, owner='ada', name='bare', license=None),
        Hosted(id=5, owner='ada', name='odd', license='NOASSERTION'),
        Hosted(id=6, owner='ada', name='closed', license='CC-BY-NC-4.0'),
        Hosted(id=7, owner='ada', name='fork', fork=True),
        Hosted(id=8, owner='ada', name='small', stars=499),
        Hosted(id=9, owner='ada', name='other', language='Kotlin'),
    ]
    with github(*hosted) as server:
        report = crawled(server, tmp_path)
    assert {row.full_name: row.reason for row in rows(report).values()} == {
        'ada/good': None,
        'ada/gradle': CandidateReason.NO_BUILD_FILE,
        'ada/empty': CandidateReason.EMPTY,
        'ada/bare': CandidateReason.NO_LICENCE,
        'ada/odd': CandidateReason.LICENCE_UNKNOWN,
        'ada/closed': CandidateReason.LICENCE_NOT_ACCEPTED,
    }
    assert report.proven
    (kept,) = load_latest_candidates(tmp_path)
    assert (kept.repo, kept.github_id) == ('ada/good', 1)
    assert kept.clone_url == f'{server.api}/git/ada/good.git'


def test_tam_eval_requires_two_contributors_and_a_push_after_2020(tmp_path: Path) -> None:
    hosted = [
        Hosted(id=1, owner='ada', name='good', stars=40, license='MIT', contributors=2),
        Hosted(id=2, owner='ada', name='alone', stars=40, license='Apache-2.0', contributors=1),
        Hosted(id=3, owner='ada', name='old', license='MIT', pushed_at='2020-12-31T23:59:59Z'),
        Hosted(id=4, owner='ada', name='crowd', license='MIT', contributors=None),
        Hosted(id=5, owner='ada', name='bsd', license='BSD-3-Clause'),
    ]
    with github(*hosted) as server:
        report = crawled(server, tmp_path, profile=load_candidate_profile('tam-eval'))
    assert {row.full_name: row.reason for row in rows(report).values()} == {
        'ada/good': None,
        'ada/alone': CandidateReason.TOO_FEW_CONTRIBUTORS,
        'ada/crowd': None,
    }


def test_a_crawl_leaves_earlier_crawls_unchanged_and_is_listed_after_them(tmp_path: Path) -> None:
    with github(Hosted(id=1, owner='ada', name='a')) as server:
        first = crawled(server, tmp_path)
        before = {path.name: path.read_bytes() for path in Path(first.folder).iterdir()}
        second = crawled(server, tmp_path)
    assert {path.name: path.read_bytes() for path in Path(first.folder).iterdir()} == before
    assert list_stamps(tmp_path) == (first.stamp, second.stamp)


@pytest.mark.parametrize('change', ['push', 'default_branch'])
def test_a_removed_pom_drops_the_repository(tmp_path: Path, change: str) -> None:
    with github(Hosted(id=1, owner='ada', name='a')) as server:
        crawled(server, tmp_path)
        server.world[1].files = ('README.md',)
        if change == 'push':
            server.world[1].pushed_at = '2026-02-02T00:00:00Z'
        else:
            server.world[1].default_branch = 'next'
        report = crawled(server, tmp_path)
    assert rows(report)[1].reason is CandidateReason.NO_BUILD_FILE
    assert load_latest_candidates(tmp_path) == ()


def test_a_crawl_without_changes_spends_only_search_requests(tmp_path: Path) -> None:
    hosted = [
        Hosted(id=1, owner='ada', name='maven', license='MIT'),
        Hosted(id=2, owner='ada', name='gradle', license='MIT', files=('build.gradle',)),
        Hosted(id=3, owner='ada', name='empty', license='MIT', files=()),
    ]
    profile = load_candidate_profile('tam-eval')
    with github(*hosted) as server:
        first = crawled(server, tmp_path, profile=profile)
        spent = server.budgets.counted.copy()
        second = crawled(server, tmp_path, profile=profile)
    assert first.requests.counted == {'search': 2, 'graphql': 1, 'core': 1}
    assert server.budgets.counted - spent == {'search': 2}
    assert second.requests.unchanged == 1
    assert rows(second).keys() == rows(first).keys()
    assert [one.kept for one in rows(second).values()] == [False, False, True]
