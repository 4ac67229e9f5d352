"""What is tried again, what is waited for, and what ends a crawl."""

from __future__ import annotations

import gzip
from collections.abc import Iterator

import pytest

from coevo.model.errors import Fatal, Transient
from miners.discovery import github_requests
from miners.discovery.budgets import Clock, Resource
from miners.discovery.github_requests import GitHubApi, RetryLimits
from tests.flows.crawling import QUICK, SECRET, github
from tests.github_server import Budgets, Fault, Hosted, Server
from tests.miners.github_searches import Sleeper, api_of, tokens
from tests.raw_server import Said, saying

PATH = '/repositories/1'

FAULTS = {
    'primary': Fault(kind='primary', seconds=0.1),
    'secondary 403': Fault(kind='secondary', status=403, seconds=1),
    'secondary 429': Fault(kind='secondary', status=429, seconds=1),
    'secondary that says nothing': Fault(kind='secondary_silent', status=429),
    'no wait at all': Fault(kind='secondary', seconds=0, times=3),
    '500': Fault(kind='status', status=500),
    '502': Fault(kind='status', status=502, times=2),
    '503': Fault(kind='status', status=503),
    'time-out': Fault(kind='hang', seconds=1.5),
    'no connection': Fault(kind='reset'),
    'half a body': Fault(kind='half'),
    'no JSON': Fault(kind='garbage'),
    'portal': Fault(kind='elsewhere'),
}


@pytest.fixture
def server() -> Iterator[Server]:
    with github(Hosted(id=1, owner='ada', name='a')) as running:
        yield running


def again(fault: Fault) -> Fault:
    return Fault(kind=fault.kind, times=fault.times, status=fault.status, seconds=fault.seconds)


@pytest.mark.parametrize('name', FAULTS)
def test_temporary_fault_is_retried_until_the_request_succeeds(server: Server, name: str) -> None:
    server.faults.append(again(FAULTS[name]))
    sleeper = Sleeper()
    reply = api_of(server, sleeper=sleeper).get(PATH, {}, Resource.CORE)
    assert (reply.status, reply.data['id']) == (200, 1)
    assert len(server.asked) == FAULTS[name].times + 1
    assert sleeper.slept
    assert min(sleeper.slept) > 0


@pytest.mark.parametrize('name', ['502', 'half a body', 'no connection', 'no wait at all'])
def test_persistent_fault_raises_transient_after_a_few_attempts(server: Server, name: str) -> None:
    fault = again(FAULTS[name])
    fault.times = -1
    server.faults.append(fault)
    sleeper = Sleeper()
    patience = RetryLimits(attempts=3, pause=0.01, longest_pause=0.02, timeout=1, refusals=4)
    with pytest.raises(Transient, match=PATH):
        api_of(server, sleeper=sleeper, patience=patience).get(PATH, {}, Resource.CORE)
    assert 3 <= len(server.asked) <= 4
    assert len(sleeper.slept) >= len(server.asked) - 1
    assert min(sleeper.slept) > 0


def test_overlong_rate_limit_raises_transient_without_waiting(server: Server) -> None:
    server.faults.append(Fault(kind='secondary', seconds=86_400))
    sleeper = Sleeper()
    with pytest.raises(Transient, match='grants no core request'):
        api_of(server, sleeper=sleeper).get(PATH, {}, Resource.CORE)
    assert sleeper.slept == []


def test_second_token_is_used_while_the_first_is_rate_limited(server: Server) -> None:
    server.faults.append(Fault(kind='secondary', seconds=3000))
    sleeper = Sleeper()
    assert api_of(server, count=2, sleeper=sleeper).get(PATH, {}, Resource.CORE).status == 200
    assert sleeper.slept == []
    assert [token for token, _, _ in server.asked] == [f'{SECRET}1', f'{SECRET}2']


def test_refused_token_is_not_used_again() -> None:
    with github(budgets=Budgets(tokens=frozenset({f'{SECRET}2'}))) as server:
        api = api_of(server, count=2)
        assert [api.get(PATH, {}, Resource.CORE).status for _ in range(2)] == [404, 404]
    assert [status for _, _, status in server.asked] == [401, 404, 404]
    assert api.warnings == ['GitHub refused token 1: it may have run out']


def test_request_is_fatal_when_every_token_is_refused() -> None:
    with (
        github(budgets=Budgets(tokens=frozenset())) as server,
        pytest.raises(Fatal, match='none of the tokens'),
    ):
        api_of(server, count=2).get(PATH, {}, Resource.CORE)


def test_client_waits_for_the_reset_of_a_spent_budget() -> None:
    budgets = Budgets(
        limits={'search': 1, 'core': 2, 'graphql': 1},
        seconds={'search': 1.0, 'core': 1.0, 'graphql': 1.0},
    )
    with github(Hosted(id=1, owner='ada', name='a'), budgets=budgets) as server:
        sleeper = Sleeper()
        api = api_of(server, sleeper=sleeper)
        assert [api.get(PATH, {}, Resource.CORE).status for _ in range(4)] == [200] * 4
    assert 1 <= len(sleeper.slept) <= 2
    assert 0 < max(sleeper.slept) <= 4
    assert budgets.refused == {}


@pytest.mark.parametrize('status', [403, 451])
def test_status_of_a_blocked_repository_is_not_taken_for_a_rate_limit(
    server: Server, status: int
) -> None:
    server.world[1].blocked = status
    assert api_of(server).get(PATH, {}, Resource.CORE).status == status
    assert len(server.asked) == 1


def test_requests_of_one_affinity_use_the_same_token(server: Server) -> None:
    api = api_of(server, count=3, patience=QUICK)
    etag = api.get(PATH, {}, Resource.CORE, affinity=7).etag
    assert api.get(PATH, {}, Resource.CORE, etag=etag, affinity=7).status == 304
    assert api.get(PATH, {}, Resource.CORE, etag=etag, affinity=8).status == 200
    assert (api.requests.counted['core'], api.requests.unchanged) == (2, 1)


OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
CLOSED = OK + b'Connection: close\r\n\r\n'
ENDLESS = {
    'a body without end': (Said(first=CLOSED, forever=b' ' * (1 << 16)), 'UnreadableAnswer'),
    'chunks without end': (
        Said(
            first=OK + b'Transfer-Encoding: chunked\r\n\r\n',
            forever=b'10000\r\n' + b' ' * (1 << 16) + b'\r\n',
        ),
        'UnreadableAnswer',
    ),
    'a body that drips': (Said(first=CLOSED, drip=b' '), 'UnreadableAnswer'),
    'a packed bomb': (
        Said(
            first=OK
            + b'Content-Encoding: gzip\r\nConnection: close\r\n\r\n'
            + gzip.compress(b' ' * (64 << 20))
        ),
        'UnreadableAnswer',
    ),
    'a body that is no packed one': (
        Said(
            first=OK
            + b'Content-Encoding: gzip\r\nConnection: close\r\n\r\n\x1f\x8b\x08'
            + b'\xff' * 20
        ),
        'ConnectionError',
    ),
    'values without end': (Said(first=CLOSED + b'[' + b'[],' * (1 << 20) + b'0]'), 'no JSON'),
    'lists in lists': (Said(first=CLOSED + b'[' * 100_000), 'no JSON'),
    'an error without end': (
        Said(first=b'HTTP/1.1 502 No\r\n\r\n', forever=b' ' * (1 << 16)),
        'UnreadableAnswer',
    ),
}


@pytest.mark.parametrize('name', ENDLESS)
def test_endless_or_malformed_response_is_cut_off_and_raises_transient(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(github_requests, '_SECONDS', 0.5)
    said, why = ENDLESS[name]
    patience = RetryLimits(attempts=1, timeout=5)
    with saying(said) as url:
        api = GitHubApi(url.removesuffix('/file'), tokens(1), Clock(sleep=Sleeper()), patience)
        with pytest.raises(Transient, match=why):
            api.get(PATH, {}, Resource.CORE)
        api.close()
