"""Crawl GitHub for candidates: search, ask what a search does not tell, compare with the crawl
before, and write down what was seen and why each repository was kept or dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from datetime import UTC
from datetime import datetime

from coevo.model.listener import SILENT
from coevo.model.listener import Listener
from coevo.storage.place import Root
from flows.crawling import crawls
from flows.crawling.events import events
from flows.crawling.progress import CrawlProgress
from flows.crawling.rows import CrawlEvent
from flows.crawling.rows import QueryRead
from flows.crawling.rows import RepositorySeen
from flows.crawling.rows import part
from flows.crawling.survey import KnownBefore
from flows.crawling.survey import Survey
from miners.discovery.budgets import Clock
from miners.discovery.candidate_profiles import CandidateProfile
from miners.discovery.candidates import CandidateReason
from miners.discovery.github import Hits
from miners.discovery.github import discover
from miners.discovery.github_replies import Patience
from miners.discovery.github_replies import Requests
from miners.discovery.github_requests import PUBLIC_API
from miners.discovery.github_requests import GitHubApi
from miners.discovery.github_search import SearchOutcome
from miners.discovery.github_tokens import GitHubToken


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """One crawl; `now` None is the present."""

    store: Root
    profile: CandidateProfile
    tokens: tuple[GitHubToken, ...]
    api: str = PUBLIC_API
    now: datetime | None = None
    clock: Clock = field(default_factory=Clock)
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """What a crawl did.

    folder   where it stands, as a user would write it
    found    repositories that the searches showed
    seen     these, and those that earlier crawls of the profile knew
    proven   whether no repository that the searches cover can be missing
    unsplit  queries that have more repositories than GitHub shows and cannot be split further
    """

    stamp: str
    folder: str
    profile: str
    found: int
    seen: int
    kept: int
    unknown: int
    proven: bool
    unsplit: tuple[str, ...]
    events: tuple[CrawlEvent, ...]
    requests: Requests
    warnings: tuple[str, ...]


def crawl(options: CrawlOptions, listener: Listener = SILENT) -> CrawlReport:
    """Crawl once and leave `STORE/crawls/STAMP/`.

    Transient, with no crawl written, if the searches cannot be read; a repository that cannot be
    asked is `unknown`. Fatal if GitHub takes none of the tokens.
    """
    with crawls.crawling(options.store) as hold:
        stamp = crawls.next_stamp(options.store, options.now or _present(options.clock))
        api = GitHubApi(options.api, options.tokens, options.clock, options.patience)
        progress = CrawlProgress(options.store, options.profile.name)
        try:
            listener.say('searching')
            hits = discover(api, options.profile, crawls.time_of(stamp))
            known = _known(options, progress.read())
            survey = Survey(options.profile, api, stamp, known, listener)
            _ask_all(survey, hits, known, progress, listener)
        finally:
            api.close()
        hold.confirm()
        report = _write(options, stamp, hits, survey, known, api)
        progress.clear()
        return report


def _ask_all(
    survey: Survey, hits: Hits, known: KnownBefore, progress: CrawlProgress, listener: Listener
) -> None:
    numbers = sorted({*hits.repositories, *known.rows})
    with progress.kept(survey.rows):
        for done, number in enumerate(numbers, 1):
            survey.take(hits, number)
            progress.note()
            listener.step('repositories', done, len(numbers))


def _known(options: CrawlOptions, answers: Mapping[int, RepositorySeen]) -> KnownBefore:
    keys: dict[int, str] = {}
    rows: Mapping[int, RepositorySeen] = {}
    for name, stamp in crawls.latest(options.store).items():
        found = {row.github_id: row for row in crawls.read_repositories(options.store, stamp)}
        keys |= {number: row.repo for number, row in found.items()}
        if name == options.profile.name:
            rows = found
    return KnownBefore(rows=rows, keys=keys, answers=answers)


def _write(
    options: CrawlOptions,
    stamp: str,
    hits: Hits,
    survey: Survey,
    known: KnownBefore,
    api: GitHubApi,
) -> CrawlReport:
    rows = tuple(sorted(survey.rows.values(), key=lambda row: row.repo))
    happened = events(known.rows, rows) if known.rows else ()
    counts = {
        'found': len(hits.repositories),
        'seen': len(rows),
        'kept': sum(row.kept for row in rows),
        'unknown': sum(row.reason is CandidateReason.UNKNOWN for row in rows),
    }
    folder = crawls.write_crawl(
        options.store,
        crawls.Crawl(
            stamp=stamp,
            profile=options.profile.name,
            about={'profile': options.profile.as_json(), **counts, **_proof(hits)},
            repositories=rows,
            events=happened,
            queries=tuple(part(QueryRead, one) for one in hits.parts),
        ),
    )
    return CrawlReport(
        **counts,
        stamp=stamp,
        folder=folder,
        profile=options.profile.name,
        proven=hits.proven,
        unsplit=tuple(one.query for one in hits.parts if one.outcome is SearchOutcome.UNSPLITTABLE),
        events=happened,
        requests=api.requests,
        warnings=tuple(api.warnings),
    )


def _proof(hits: Hits) -> dict[str, object]:
    """Of each search: what GitHub says it has, what its parts have together, what was shown."""
    searches = [
        {
            'query': one.query,
            'total': one.total,
            'sum_of_parts': one.sum,
            'shown': len(one.items),
            'proven': one.proven,
        }
        for one in hits.searches
    ]
    return {'proven': hits.proven, 'searches': searches, 'odd': list(hits.odd)}


def _present(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.wall(), tz=UTC).replace(microsecond=0)
