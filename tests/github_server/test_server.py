"""The tests' GitHub itself, seen through PyGithub, Git and GitHub's own description."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from github import Auth, Github, GithubException, UnknownObjectException

from tests.flows.crawling import github
from tests.github_server import Budgets, Hosted, Server
from tests.github_server.answers import Answer
from tests.github_server.contract import Contract, Violation
from tests.github_server.payloads import search_item
from tests.repos import commit, git, init


def client(server: Server) -> Github:
    return Github(auth=Auth.Token('t'), base_url=server.api, retry=None, per_page=100)


@pytest.fixture(scope='module')
def server() -> Iterator[Server]:
    """Three repositories that tests only read."""
    hosted = [Hosted(id=n, owner='ada', name=f'r{n}', stars=n, license='MIT') for n in (1, 2, 3)]
    with github(*hosted) as running:
        yield running


def test_pygithub_reads_the_responses_of_the_server(server: Server) -> None:
    repository = client(server).get_repo('ada/R1')
    assert repository.id == client(server).get_repo(1).id == 1
    assert repository.get_contents('pom.xml').decoded_content == b'1 pom.xml'
    assert [file.name for file in repository.get_contents('')] == [
        'LICENSE',
        'README.md',
        'pom.xml',
    ]
    assert repository.get_license().license.spdx_id == 'MIT'
    assert repository.get_contributors().totalCount == 3
    with pytest.raises(UnknownObjectException):
        repository.get_contents('build.gradle')
    assert client(server).get_rate_limit().rate.limit == 10**6


@pytest.mark.parametrize(
    ('query', 'names'),
    [
        ('stars:2..3', ['r3', 'r2']),
        ('stars:*..1', ['r1']),
        ('stars:>=2 license:mit', ['r3', 'r2']),
        ('stars:>2', ['r3']),
        ('language:java created:2015-01-01..2015-01-01 stars:1', ['r1']),
        ('created:>2015-01-01', []),
        ('pushed:>=2026-01-01 archived:false is:public stars:<2', ['r1']),
        ('fork:only', []),
    ],
)
def test_a_search_applies_its_qualifiers(server: Server, query: str, names: list[str]) -> None:
    found = client(server).search_repositories(query, sort='stars')
    assert [one.name for one in found] == names


@pytest.mark.parametrize('query', ['fork:false', 'stars:many', 'created:yesterday', 'word'])
def test_an_invalid_search_query_is_refused_with_status_422(server: Server, query: str) -> None:
    with pytest.raises(GithubException, match='422'):
        client(server).search_repositories(query).totalCount  # noqa: B018


def test_an_old_repository_name_redirects_until_it_is_taken_again() -> None:
    with github(Hosted(id=1, owner='ada', name='old')) as server:
        server.world.rename(1, 'bob/new')
        moved = requests.get(f'{server.api}/repos/ada/old', allow_redirects=False, timeout=60)
        assert (moved.status_code, moved.headers['Location']) == (
            301,
            f'{server.api}/repositories/1',
        )
        assert client(server).get_repo('ada/old').full_name == 'bob/new'
        server.world.add(Hosted(id=2, owner='ada', name='old'))
        assert client(server).get_repo('ada/old').id == 2


def test_an_unchanged_repository_spends_no_budget() -> None:
    with github(Hosted(id=1, owner='ada', name='a'), budgets=Budgets()) as server:
        repository = client(server).get_repo(1)
        spent = dict(server.budgets.counted)
        assert repository.update() is False
        assert dict(server.budgets.counted) == spent
        server.world[1].stars += 1
        assert repository.update() is True


def test_an_exhausted_budget_is_refused_with_its_reset_time() -> None:
    budgets = Budgets(limits={'search': 1, 'core': 1, 'graphql': 1}, seconds={'core': 3600.0})
    with github(Hosted(id=1, owner='ada', name='a'), budgets=budgets) as server:
        first, second = (requests.get(f'{server.api}/repositories/1', timeout=60) for _ in range(2))
    assert (first.status_code, first.headers['X-RateLimit-Remaining']) == (200, '0')
    assert (second.status_code, second.headers['X-RateLimit-Used']) == (403, '1')
    assert int(second.headers['X-RateLimit-Reset']) > 1_700_000_000


def test_the_contract_rejects_answers_that_github_would_not_give() -> None:
    item = search_item(Hosted(id=1, owner='ada', name='a'), 'http://127.0.0.1')
    page = {'total_count': 1, 'incomplete_results': False, 'items': [item]}
    contract = Contract()
    contract.check('/search/repositories', Answer(data=page))
    for spoilt in ({**item, 'stargazers_count': '7'}, {**item, 'license': {'key': 'mit'}}):
        with pytest.raises(Violation):
            contract.check('/search/repositories', Answer(data={**page, 'items': [spoilt]}))
    with pytest.raises(Violation, match='total_count'):
        contract.check('/search/repositories', Answer(data={**page, 'total_count': None}))
    with pytest.raises(Violation, match='418'):
        contract.check('/search/repositories', Answer(status=418, data={}))


def test_a_server_process_serves_newly_pushed_commits(tmp_path: Path) -> None:
    folder, state = tmp_path / 'served', tmp_path / 'state.json'
    bare = folder / 'ada' / 'tool.git'
    work = init(tmp_path / 'work')
    commit(work, 'one', {'README.md': 'x'}, date='2024-01-01T00:00:00Z')
    git(tmp_path, 'clone', '-q', '--bare', str(work), str(bare))
    state.write_text(json.dumps({'repositories': [{'full_name': 'ada/tool', 'stars': 7}]}))
    command = [sys.executable, '-m', 'tests.github_server', '--repositories', str(folder)]
    with subprocess.Popen(
        [*command, '--state', str(state)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout
        api = process.stdout.readline().strip()
        assert re.fullmatch(r'http://127\.0\.0\.1:\d+', api)
        (found,) = requests.get(f'{api}/search/repositories?q=stars:7', timeout=60).json()['items']
        git(tmp_path, 'clone', '-q', found['clone_url'], str(tmp_path / 'clone'))
        assert requests.get(f'{found["url"]}/contents/pom.xml', timeout=60).status_code == 404
        head = commit(work, 'two', {'pom.xml': '<project/>'}, date='2025-01-01T00:00:00Z')
        git(work, 'push', '-q', str(bare), 'main')
        assert requests.get(f'{found["url"]}/contents/pom.xml', timeout=60).status_code == 200
        assert requests.get(found['url'], timeout=60).json()['pushed_at'] == '2025-01-01T00:00:00Z'
        git(tmp_path / 'clone', 'pull', '-q')
        assert git(tmp_path / 'clone', 'rev-parse', 'HEAD') == head
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=120) == 0
