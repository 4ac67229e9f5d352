"""Searches behind the cap of 1,000 hits: nothing is lost, and what cannot be shown is said."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from coevo.model.errors import Fatal
from miners.discovery.github import (
    CAP,
    SearchOutcome,
    SearchPart,
    SearchResult,
    search_repositories,
)
from tests.flows.crawling import github, many
from tests.github_server import Fault, Hosted, Server
from tests.miners.github_searches import api_of

NOW = datetime(2026, 1, 1, tzinfo=UTC)
START = datetime(2012, 1, 1, tzinfo=UTC)

# As many stars, so that only their dates tell them apart: those of Java by days, of Scala by none.
TIED = 1300


@pytest.fixture(scope='module')
def server() -> Iterator[Server]:
    days = [START + timedelta(days=n) for n in range(TIED)]
    java = [
        Hosted(id=n, owner='a', name=f'j{n}', stars=700, created_at=f'{day:%Y-%m-%dT%H:%M:%SZ}')
        for n, day in enumerate(days, 1)
    ]
    spread = [
        Hosted(id=5000 + n, owner='b', name=f's{n}', stars=500 + n * n // 40) for n in range(300)
    ]
    scala = [
        Hosted(id=9000 + n, owner='c', name=f'c{n}', language='Scala') for n in range(CAP + 10)
    ]
    with github(*java, *spread, *scala) as running:
        yield running


def searched(server: Server, words: str = 'language:Java', stars: int = 500) -> SearchResult:
    api = api_of(server)
    try:
        return search_repositories(api, words, stars, NOW)
    finally:
        api.close()


def test_search_finds_every_repository_once_by_stars_and_then_by_dates(server: Server) -> None:
    found = searched(server)
    assert set(found.items) == {*range(1, TIED + 1), *range(5000, 5300)}
    assert found.is_complete
    assert found.parts_total == found.total == TIED + 300
    assert any('created:' in part.query for part in found.read_parts)
    assert all(part.total < CAP and part.shown == part.total for part in found.read_parts)


def test_total_of_a_split_part_is_the_sum_of_its_halves(server: Server) -> None:
    waiting = list(reversed(searched(server).parts))

    def check() -> int:
        part = waiting.pop()
        if part.outcome is SearchOutcome.SPLIT:
            assert check() + check() == part.total, part
        return part.total

    check()
    assert not waiting


@pytest.mark.slow
def test_unsplittable_part_is_reported(server: Server) -> None:
    found = searched(server, 'language:Scala')
    (part,) = [one for one in found.read_parts if one.outcome is SearchOutcome.UNSPLITTABLE]
    assert (part.total, part.shown) == (CAP + 10, CAP)
    assert not found.is_complete
    assert 'stars:1000..1000 created:' in part.query
    assert len([one for one in server.asked if 'Scala' in one[1]]) < 100


def test_timed_out_search_is_repeated(server: Server) -> None:
    server.faults[:] = [Fault(kind='incomplete', path='stars', times=2)]
    found = searched(server, stars=701)
    assert found.is_complete
    assert len(found.items) == found.total > 100


def test_search_that_always_times_out_is_reported_as_incomplete(server: Server) -> None:
    server.faults[:] = [Fault(kind='incomplete', path='stars', times=-1)]
    found = searched(server, stars=701)
    server.faults.clear()
    assert [part.outcome for part in found.parts] == [SearchOutcome.INCOMPLETE]
    assert not found.is_complete
    assert found.items


@pytest.mark.parametrize(
    ('reads', 'outcome'), [(1, SearchOutcome.WHOLE), (99, SearchOutcome.UNSTEADY)]
)
def test_inconsistent_pages_are_read_again(reads: int, outcome: SearchOutcome) -> None:
    """A repository is on the second page while the first is read, and the other way round."""
    with github(*many(150)) as server:

        def move() -> None:
            second = len(server.asked) % 2
            server.world[1].stars = 9999 if second and len(server.asked) < 2 * reads else 500

        server.before_each = move
        found = searched(server)
    assert [part.outcome for part in found.parts] == [outcome]
    assert found.is_complete == (outcome is SearchOutcome.WHOLE)
    assert (1 in found.items) == found.is_complete
    assert len(server.asked) == (4 if found.is_complete else 6)


def test_query_that_github_refuses_ends_the_search(server: Server) -> None:
    with pytest.raises(Fatal, match='GitHub does not take the query'):
        searched(server, 'nonsense')


@pytest.mark.parametrize(
    ('part', 'most', 'halves'),
    [
        (SearchPart(stars_from=40), 40000, ['stars:40..1264', 'stars:>=1265']),
        (SearchPart(stars_from=40), 40, ['stars:40..40', 'stars:>=41']),
        (SearchPart(stars_from=40, stars_to=41), 41, ['stars:40..40', 'stars:41..41']),
        (SearchPart(stars_from=0, stars_to=9), 9, ['stars:0..0', 'stars:1..9']),
    ],
)
def test_star_range_is_split_where_repositories_are_dense(
    part: SearchPart, most: int, halves: list[str]
) -> None:
    assert [half.query for half in part.split_in_halves(most, NOW) or ()] == halves


def test_date_range_is_split_down_to_one_second_and_no_further() -> None:
    part: SearchPart = SearchPart(stars_from=7, stars_to=7)
    for depth in range(40):
        halves = part.split_in_halves(7, NOW)
        if halves is None:
            break
        low, high = halves
        assert low.created_to is not None
        assert high.created_from == low.created_to + timedelta(seconds=1)
        part = halves[depth % 2]
    else:
        pytest.fail('never ends')
    assert part.created_from == part.created_to
