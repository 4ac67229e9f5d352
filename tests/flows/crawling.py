"""Crawls of the tests' GitHub, with short waits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq

from coevo.languages.table import LANGUAGES, get_engine_version
from coevo.model.listener import SILENT, Listener
from coevo.storage.place import Root
from coevo.storage.places import open_place
from coevo.storage.withdrawals import Withdrawal, WithdrawnKind, add_or_find_withdrawal
from flows.crawling.crawls import Crawl, load_repositories, write_crawl_and_get_address
from flows.crawling.rows import RepositorySeen
from flows.discovery import CrawlOptions, CrawlReport, crawl
from flows.validations import (
    InvalidReason,
    SuiteCounts,
    Validation,
    ValidationSeconds,
    mark_latest_validation,
    write_validation,
)
from miners.discovery.budgets import GitHubToken
from miners.discovery.candidates import Presence, load_candidate_profile
from miners.discovery.github_requests import RetryLimits
from tests.github_server import Budgets, Hosted, Server, World, serving

SECRET = 'ghp_neverShowThisOne0123456789'

QUICK = RetryLimits(attempts=3, pause=0.02, longest_pause=0.05, secondary=0.05, timeout=1)


def tokens(count: int = 1) -> tuple[GitHubToken, ...]:
    return tuple(GitHubToken(number=n, secret=f'{SECRET}{n}') for n in range(1, count + 1))


@contextmanager
def github(*repositories: Hosted, budgets: Budgets | None = None) -> Iterator[Server]:
    """A GitHub that holds these, with budgets that are never spent unless they are given."""
    plenty = {'search': 10**6, 'core': 10**6, 'graphql': 10**6}
    server = Server(world=World.of(repositories), budgets=budgets or Budgets(limits=plenty))
    with serving(server) as running:
        yield running


def options(server: Server, store: Root, **others: object) -> CrawlOptions:
    known = {'profile': load_candidate_profile('testevo'), 'tokens': tokens(), 'patience': QUICK}
    return CrawlOptions(store=store, api=server.api, **{**known, **others})


def crawled(
    server: Server, store: Path, *, listener: Listener = SILENT, **others: object
) -> CrawlReport:
    return crawl(options(server, store, **others), listener)


def rows(report: CrawlReport) -> dict[int, RepositorySeen]:
    folder = Path(report.folder)
    found = load_repositories(folder.parent.parent, report.stamp)
    return {row.github_id: row for row in found}


def queries(report: CrawlReport) -> list[dict[str, object]]:
    found: list[dict[str, object]] = pq.read_table(f'{report.folder}/queries.parquet').to_pylist()
    return found


def many(count: int, **others: object) -> list[Hosted]:
    """Repositories with ids from 1 on, ever more stars."""
    return [
        Hosted(**{'id': n, 'owner': 'ada', 'name': f'r{n}', 'stars': 500 + n, **others})
        for n in range(1, count + 1)
    ]


def contents(folder: str) -> dict[str, bytes]:
    """The files of a crawl."""
    return {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}


def row(repo: str, number: int, crawl: datetime, **others: object) -> RepositorySeen:
    """What a crawl says of a repository that it keeps, unless `others` differ."""
    facts = {
        'github_id': number,
        'repo': repo,
        'full_name': repo,
        'clone_url': f'https://example.org/{repo}.git',
        'default_branch': 'main',
        'stars': 500,
        'license': 'MIT',
        'language': 'Java',
        'archived': False,
        'disabled': False,
        'fork': False,
        'created_at': datetime(2020, 1, 1, tzinfo=UTC),
        'pushed_at': datetime(2024, 1, 20, tzinfo=UTC),
        'presence': Presence.SEARCH,
        'kept': others.get('reason') is None,
        'reason': None,
        'root': None,
        'at_least_contributors': None,
        'unanswered': (),
        'first_seen': f'{crawl:%Y%m%dT%H%M%SZ}',
        'last_seen': f'{crawl:%Y%m%dT%H%M%SZ}',
        'lookup_etag': None,
        'contributors_etag': None,
    }
    return RepositorySeen(**{**facts, **others})


def write_rows(
    store: Root, crawl: datetime, *rows: RepositorySeen, profile: str = 'testevo'
) -> None:
    """A crawl of the store, without a GitHub."""
    about = {'profile': load_candidate_profile(profile).as_json()}
    stamp = f'{crawl:%Y%m%dT%H%M%SZ}'
    write_crawl_and_get_address(
        store,
        Crawl(stamp=stamp, profile=profile, about=about, repositories=rows, events=(), queries=()),
    )


def validated(
    store: Root, repo: str, pushed: datetime | None = None, reason: InvalidReason | None = None
) -> None:
    """The latest validation of a repository, in the language of toys."""
    found = Validation(
        repo=repo,
        rev='0' * 40,
        ref='refs/heads/main',
        committed=None,
        reason=reason,
        suite=SuiteCounts(passed=1),
        sandbox='bubblewrap',
        engine_version=get_engine_version('toy') if 'toy' in LANGUAGES else 'another',
        language='toy',
    )
    write_validation(store, found, ValidationSeconds(build=0.0, suite=0.0))
    mark_latest_validation(store, found, pushed)


def withdraw(store: Root, repo: str) -> None:
    withdrawal = Withdrawal(kind=WithdrawnKind.REPOSITORY, id=repo, reason='its owner asked for it')
    add_or_find_withdrawal(open_place(store), withdrawal)
