"""What a later crawl says has happened, by a repository's number."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from flows.crawling.crawls import load_latest_candidates
from flows.crawling.rows import EventKind
from miners.discovery.candidates import CandidateReason, Presence, load_candidate_profile
from tests.flows.crawling import crawled, github, rows
from tests.github_server import Hosted, World

Change = Callable[[World], object]
Happened = list[tuple[str, str | None, str | None]]


def change(**values: object) -> Change:
    def make(world: World) -> None:
        for name, value in values.items():
            setattr(world[1], name, value)

    return make


CHANGES: dict[str, tuple[Change, Happened]] = {
    'renamed': (
        lambda world: world.rename(1, 'ada/new'),
        [('renamed', 'ada/old', 'ada/new')],
    ),
    'transferred': (
        lambda world: world.rename(1, 'bob/old'),
        [('transferred', 'ada/old', 'bob/old')],
    ),
    'both': (
        lambda world: world.rename(1, 'bob/new'),
        [('transferred', 'ada/old', 'bob/new'), ('renamed', 'ada/old', 'bob/new')],
    ),
    'deleted': (lambda world: world.delete(1), [('deleted', None, None)]),
    'DMCA': (change(blocked=451), [('blocked', None, None)]),
    'blocked': (change(blocked=403), [('blocked', None, None)]),
    'archived': (change(archived=True), [('archived', None, None)]),
    'forked': (change(fork=True), [('gone_from_search', None, None), ('forked', None, None)]),
    'emptied': (
        change(files=(), pushed_at='2026-03-03T00:00:00Z'),
        [('emptied', 'build_file', 'empty')],
    ),
    'licence': (change(license='MIT'), [('licence_changed', 'Apache-2.0', 'MIT')]),
    'no licence': (change(license=None), [('licence_changed', 'Apache-2.0', None)]),
    'fewer stars': (change(stars=3), [('gone_from_search', None, None)]),
    'branch': (change(default_branch='trunk'), [('default_branch_changed', 'main', 'trunk')]),
    'nothing': (lambda world: None, []),
    'more stars': (change(stars=9999), []),
}


@pytest.mark.parametrize('name', CHANGES)
def test_a_change_of_a_repository_is_recorded_as_an_event(tmp_path: Path, name: str) -> None:
    make, happened = CHANGES[name]
    with github(Hosted(id=1, owner='ada', name='old')) as server:
        crawled(server, tmp_path)
        make(server.world)
        report = crawled(server, tmp_path)
        again = crawled(server, tmp_path)
    written = pq.read_table(f'{report.folder}/events.parquet').to_pylist()
    assert [(one['kind'], one['before'], one['after']) for one in written] == happened
    assert {(one['github_id'], one['repo']) for one in written} <= {(1, 'ada/old')}
    assert again.events == ()
    assert rows(again)[1].repo == 'ada/old'


def test_a_repository_that_leaves_and_returns_gets_an_event_each_time(tmp_path: Path) -> None:
    with github(Hosted(id=1, owner='ada', name='a')) as server:
        crawled(server, tmp_path)
        server.world.add(Hosted(id=2, owner='ada', name='b'))
        kinds = [crawled(server, tmp_path).events]
        server.world[2].stars = 1
        kinds.append(crawled(server, tmp_path).events)
        server.world[2].stars = 1000
        kinds.append(crawled(server, tmp_path).events)
        gone = server.world[2]
        server.world.delete(2)
        kinds.append(crawled(server, tmp_path).events)
        asked = len(server.asked)
        assert crawled(server, tmp_path).events == ()
        assert not [path for _, path, _ in server.asked[asked:] if 'repositories/2' in path]
        server.world.add(gone)
        kinds.append(crawled(server, tmp_path).events)
    assert [[one.kind for one in some] for some in kinds] == [
        [EventKind.APPEARED],
        [EventKind.GONE_FROM_SEARCH],
        [EventKind.BACK_IN_SEARCH],
        [EventKind.DELETED],
        [EventKind.RESTORED],
    ]


def test_a_repository_key_is_permanent_and_never_reused(tmp_path: Path) -> None:
    tam_eval = load_candidate_profile('tam-eval')
    with github(Hosted(id=7, owner='ada', name='tool')) as server:
        crawled(server, tmp_path)
        server.world.rename(7, 'bob/tool')
        server.world.add(Hosted(id=8, owner='Ada', name='Tool'))
        crawled(server, tmp_path)
        crawled(server, tmp_path, profile=tam_eval)
    kept = {one.github_id: one for one in load_latest_candidates(tmp_path)}
    assert {number: one.repo for number, one in kept.items()} == {7: 'ada/tool', 8: 'Ada/Tool.8'}
    assert kept[7].full_name == 'bob/tool'
    assert kept[7].clone_url.endswith('/git/bob/tool.git')
    assert kept[8].profiles == ('tam-eval', 'testevo')
    assert [one.profiles for one in load_latest_candidates(tmp_path, 'testevo')] == [
        ('testevo',)
    ] * 2
    assert load_latest_candidates(tmp_path, 'other') == ()


def test_a_repository_gone_from_the_search_is_looked_up_by_its_number(tmp_path: Path) -> None:
    with github(Hosted(id=1, owner='ada', name='a')) as server:
        crawled(server, tmp_path)
        server.world[1].stars = 499
        first = crawled(server, tmp_path)
        second = crawled(server, tmp_path)
    row = rows(first)[1]
    assert (row.presence, row.reason, row.stars) == (
        Presence.LOOKUP,
        CandidateReason.TOO_FEW_STARS,
        499,
    )
    assert second.requests.counted['core'] == 0
    assert second.requests.unchanged == 1
    assert rows(second)[1].reason is CandidateReason.TOO_FEW_STARS
