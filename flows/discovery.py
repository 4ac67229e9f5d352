"""Crawl GitHub for candidates.

A crawl searches, requests further facts, compares with the previous crawl, and records what was
seen and why each repository was kept or dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from coevo.model.listener import SILENT, Listener
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.crawling import crawls
from flows.crawling.crawls import CrawlProgress
from flows.crawling.rows import CrawlEvent, CrawlQuery, RepositorySeen, copy_fields, list_events
from flows.crawling.survey import CrawlHistory, Survey
from flows.eligibility import load_withdrawn_repositories
from miners.discovery.budgets import Clock, GitHubToken
from miners.discovery.candidate_profiles import CandidateProfile
from miners.discovery.candidates import CandidateReason
from miners.discovery.github import SearchHits, discover_repositories
from miners.discovery.github_requests import PUBLIC_API, GitHubApi, RequestCounts, RetryLimits
from miners.discovery.github_search import SearchOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """The options of one crawl; `now` None takes the present."""

    store: Root
    profile: CandidateProfile
    tokens: tuple[GitHubToken, ...]
    api: str = PUBLIC_API
    now: datetime | None = None
    clock: Clock = field(default_factory=Clock)
    patience: RetryLimits = field(default_factory=RetryLimits)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """The result of a crawl.

    folder   its address, as a user would write it
    found    the number of repositories that the searches showed
    seen     these, and those that earlier crawls of the profile knew
    proven   whether the searches are certain to have found every repository that they cover
    unsplit  queries with more repositories than GitHub shows that cannot be split further
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
    requests: RequestCounts
    warnings: tuple[str, ...]


def crawl(options: CrawlOptions, listener: Listener = SILENT) -> CrawlReport:
    """Crawl once and write `STORE/crawls/STAMP/`.

    A repository about which GitHub does not answer gets the reason `unknown`.

    Raises: Transient if the searches cannot be read, and no crawl is written; Fatal if GitHub
    accepts none of the tokens.
    """
    with crawls.lock_crawls_or_raise_and_clean(options.store) as hold:
        stamp = crawls.choose_next_stamp(options.store, options.now or _read_clock(options.clock))
        api = GitHubApi(options.api, options.tokens, options.clock, options.patience)
        progress = CrawlProgress(options.store, options.profile.name)
        try:
            listener.say('searching')
            hits = discover_repositories(api, options.profile, crawls.parse_stamp(stamp))
            known = _load_history(options, progress.read())
            survey = Survey(options.profile, api, stamp, known, listener)
            _survey_all(survey, hits, known, progress, listener)
        finally:
            api.close()
        hold.confirm_held()
        report = _write_crawl(options, stamp, hits, survey, known, api)
        progress.clear()
        return report


def _survey_all(
    survey: Survey,
    hits: SearchHits,
    known: CrawlHistory,
    progress: CrawlProgress,
    listener: Listener,
) -> None:
    numbers = sorted({*hits.repositories, *known.rows})
    with progress.write_rows_on_failure(survey.rows):
        for done, number in enumerate(numbers, 1):
            survey.add_row(hits, number)
            progress.count_row_and_write_periodically()
            listener.step('repositories', done, len(numbers))


def _load_history(options: CrawlOptions, answers: Mapping[int, RepositorySeen]) -> CrawlHistory:
    keys: dict[int, str] = {}
    rows: Mapping[int, RepositorySeen] = {}
    for name, stamp in crawls.load_latest_stamps(options.store).items():
        rows_by_number = {
            row.github_id: row for row in crawls.load_repositories(options.store, stamp)
        }
        keys |= {number: row.repo for number, row in rows_by_number.items()}
        if name == options.profile.name:
            rows = rows_by_number
    withdrawn = load_withdrawn_repositories(open_place(options.store))
    return CrawlHistory(rows=rows, keys=keys, answers=answers, withdrawn=withdrawn)


def _write_crawl(
    options: CrawlOptions,
    stamp: str,
    hits: SearchHits,
    survey: Survey,
    known: CrawlHistory,
    api: GitHubApi,
) -> CrawlReport:
    rows = tuple(sorted(survey.rows.values(), key=lambda row: row.repo))
    happened = list_events(known.rows, rows) if known.rows else ()
    counts = {
        'found': len(hits.repositories),
        'seen': len(rows),
        'kept': sum(row.kept for row in rows),
        'unknown': sum(row.reason is CandidateReason.UNKNOWN for row in rows),
    }
    folder = crawls.write_crawl_and_get_address(
        options.store,
        crawls.Crawl(
            stamp=stamp,
            profile=options.profile.name,
            about={
                'profile': options.profile.as_json(),
                **counts,
                **_summarise_search_completeness(hits),
            },
            repositories=rows,
            events=happened,
            queries=tuple(copy_fields(CrawlQuery, query_part) for query_part in hits.parts),
        ),
    )
    return CrawlReport(
        **counts,
        stamp=stamp,
        folder=folder,
        profile=options.profile.name,
        proven=hits.is_complete,
        unsplit=tuple(
            query_part.query
            for query_part in hits.parts
            if query_part.outcome is SearchOutcome.UNSPLITTABLE
        ),
        events=happened,
        requests=api.requests,
        warnings=tuple(api.warnings),
    )


def _summarise_search_completeness(hits: SearchHits) -> dict[str, object]:
    """Return the counts of each search: by GitHub, as a sum of its parts, and as it was shown."""
    searches = [
        {
            'query': search.query,
            'total': search.total,
            'sum_of_parts': search.parts_total,
            'shown': len(search.items),
            'proven': search.is_complete,
        }
        for search in hits.searches
    ]
    return {'proven': hits.is_complete, 'searches': searches, 'odd': list(hits.odd)}


def _read_clock(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.wall(), tz=UTC).replace(microsecond=0)
