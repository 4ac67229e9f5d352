"""Crawl GitHub for candidates.

A crawl searches, requests further facts, compares with the previous crawl, and records what was
seen and why each repository was kept or dropped.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from coevo.model.errors import Transient
from coevo.model.listener import SILENT, Listener
from coevo.storage.place import Root
from coevo.storage.places import open_place
from flows.crawling import crawls
from flows.crawling.crawls import CrawlProgress
from flows.crawling.rows import CrawlEvent, CrawlQuery, RepositorySeen, copy_fields, list_events
from flows.eligibility import load_withdrawn_repositories
from miners.discovery.budgets import Clock, GitHubToken
from miners.discovery.candidates import (
    CandidateProfile,
    CandidateReason,
    Presence,
    RepositoryFacts,
    RepositoryMetadata,
    RootContent,
    check_metadata,
    find_reason_against,
)
from miners.discovery.github import (
    ROOTS_AT_ONCE,
    SearchHits,
    SearchOutcome,
    add_contributor_count,
    discover_repositories,
    find_root_contents,
    look_up_repository,
)
from miners.discovery.github_requests import PUBLIC_API, GitHubApi, RequestCounts, RetryLimits

# Turn search results and earlier crawls into a row for each repository, with few requests.

# After so many unanswered requests in a row, the rest waits for the next crawl.
_GIVE_UP = 3

_T = TypeVar('_T')


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlHistory:
    """The results of earlier crawls of all profiles.

    rows     the rows of the profile's last crawl, by number
    keys     the name of each repository in the data, by number
    answers  the rows of an unfinished crawl, by number; only its answers are used
    withdrawn  the names in the data of withdrawn repositories, about which nothing is asked
    """

    rows: Mapping[int, RepositorySeen]
    keys: Mapping[int, str]
    answers: Mapping[int, RepositorySeen]
    withdrawn: Collection[str] = ()

    def find_latest_row(self, number: int) -> RepositorySeen | None:
        """Return a repository's row of the unfinished crawl, else of the profile's last crawl.

        None if the profile never saw it.
        """
        return self.answers.get(number, self.rows.get(number))


class Survey:
    """The rows of one crawl; `rows` has those completed so far, by number."""

    def __init__(
        self,
        profile: CandidateProfile,
        api: GitHubApi,
        stamp: str,
        known: CrawlHistory,
        listener: Listener,
    ) -> None:
        self.rows: dict[int, RepositorySeen] = {}
        self._profile = profile
        self._api = api
        self._stamp = stamp
        self._known = known
        self._listener = listener
        self._silent = 0
        self._roots: dict[int, RootContent | None] = {}
        self._keys = dict(known.keys)
        self._taken = {key.lower() for key in known.keys.values()}

    def add_row(self, hits: SearchHits, number: int) -> None:
        """Add the row of one repository.

        Add older repositories first, so that names in the data are always assigned in the same way.
        """
        seen = hits.repositories.get(number)
        if seen is not None:
            known_row = self._known.find_latest_row(number)
            etag = known_row.lookup_etag if known_row is not None else None
            self.rows[number] = self._build_row(seen, Presence.SEARCH, etag)
        else:
            self.rows[number] = self._look_up_missed_repository(number)

    def ask_for_roots(self, repositories: Sequence[RepositoryMetadata]) -> None:
        """Ask for the roots of some repositories with one request, before their rows are added.

        Those are left out whose root is known, or that have a reason against them without it.
        """
        self._ask_in_halves([seen for seen in repositories if self._needs_root(seen)])

    def _ask_in_halves(self, due: Sequence[RepositoryMetadata]) -> None:
        """Ask for the roots of some repositories, and of each half if GitHub does not answer.

        A query may be too much for it: a server that is down ends the crawl's requests anyway.
        """
        if not due:
            return
        answers = self._try_asking(
            partial(find_root_contents, self._api, due, self._profile.build_files)
        )
        if answers is None and len(due) > 1 and self._silent < _GIVE_UP:
            self._ask_in_halves(due[: len(due) // 2])
            self._ask_in_halves(due[len(due) // 2 :])
        else:
            self._roots |= answers or dict.fromkeys(seen.github_id for seen in due)

    def _needs_root(self, seen: RepositoryMetadata) -> bool:
        return (
            self._profile.build_file
            and self._assign_key(seen) not in self._known.withdrawn
            and check_metadata(self._profile, seen) is None
            and not _is_root_current(seen, self._known.find_latest_row(seen.github_id))
        )

    def _look_up_missed_repository(self, number: int) -> RepositorySeen:
        """Request a known repository that no search finds any more, and return its row.

        A deleted or blocked one is not requested again. Without an answer it is no candidate.
        """
        before = self._known.rows[number]
        if before.presence in (Presence.DELETED, Presence.BLOCKED):
            return before
        if before.repo in self._known.withdrawn:
            return dataclasses.replace(before, kept=False, reason=CandidateReason.WITHDRAWN)
        known_row = self._known.find_latest_row(number) or before
        lookup = self._try_asking(
            partial(look_up_repository, self._api, number, known_row.lookup_etag)
        )
        if lookup is None:
            return dataclasses.replace(
                before, kept=False, reason=CandidateReason.UNKNOWN, unanswered=('lookup',)
            )
        if lookup.presence is not Presence.LOOKUP:
            reason = find_reason_against(
                self._profile, before.metadata, lookup.presence, before.facts
            )
            return dataclasses.replace(
                before, presence=lookup.presence, kept=False, reason=reason, unanswered=()
            )
        return self._build_row(lookup.seen or known_row.metadata, Presence.LOOKUP, lookup.etag)

    def _build_row(
        self, seen: RepositoryMetadata, presence: Presence, etag: str | None
    ) -> RepositorySeen:
        before = self._known.rows.get(seen.github_id)
        repo = self._assign_key(seen)
        reason: CandidateReason | None
        unanswered: tuple[str, ...]
        if repo in self._known.withdrawn:
            facts, unanswered, reason = self._find_known_facts(seen), (), CandidateReason.WITHDRAWN
        else:
            facts, unanswered = self._gather_facts_and_unanswered(seen)
            reason = find_reason_against(self._profile, seen, presence, facts)
        return RepositorySeen(
            **dataclasses.asdict(seen),
            **dataclasses.asdict(facts),
            repo=repo,
            presence=presence,
            kept=reason is None,
            reason=reason,
            unanswered=unanswered,
            first_seen=before.first_seen if before is not None else self._stamp,
            last_seen=self._stamp,
            lookup_etag=etag,
        )

    def _gather_facts_and_unanswered(
        self, seen: RepositoryMetadata
    ) -> tuple[RepositoryFacts, tuple[str, ...]]:
        """Return the facts of a repository that need requests, and the names of failed requests.

        Nothing is requested if its metadata rule it out.
        """
        facts = self._find_known_facts(seen)
        if check_metadata(self._profile, seen) is not None:
            return facts, ()
        unanswered = []
        if seen.github_id not in self._roots:  # no search found it
            self.ask_for_roots([seen])
        if seen.github_id in self._roots:
            root = self._roots[seen.github_id]
            unanswered += ['root'] if root is None else []
            facts = dataclasses.replace(facts, root=root or facts.root)
        if self._profile.contributors and (
            not self._profile.build_file or facts.root is RootContent.BUILD_FILE
        ):
            new_facts = self._try_asking(partial(self._request_contributor_count, seen, facts))
            unanswered += ['contributors'] if new_facts is None else []
            facts = new_facts or facts
        return facts, tuple(sorted(unanswered))

    def _find_known_facts(self, seen: RepositoryMetadata) -> RepositoryFacts:
        """Return the facts that earlier crawls know; empty ones if they know none."""
        known_row = self._known.find_latest_row(seen.github_id)
        return _keep_valid_facts(seen, known_row) if known_row is not None else RepositoryFacts()

    def _request_contributor_count(
        self, seen: RepositoryMetadata, facts: RepositoryFacts
    ) -> RepositoryFacts:
        return add_contributor_count(self._api, seen.github_id, facts, self._profile.contributors)

    def _try_asking(self, ask: Callable[[], _T]) -> _T | None:
        """Return an answer, or None if GitHub gives none.

        After three failures in a row no request is sent any more, and the result is always None.
        """
        if self._silent >= _GIVE_UP:
            return None
        try:
            answer = ask()
        except Transient as trouble:
            self._silent += 1
            self._listener.say(str(trouble))
            return None
        self._silent = 0
        return answer

    def _assign_key(self, seen: RepositoryMetadata) -> str:
        """Return the repository's name in the data, which it keeps for ever.

        It is the first name seen; if another repository has that name, `.NUMBER` is added.
        """
        if seen.github_id not in self._keys:
            free = seen.full_name.lower() not in self._taken
            key = seen.full_name if free else f'{seen.full_name}.{seen.github_id}'
            self._keys[seen.github_id] = key
            self._taken.add(key.lower())
        return self._keys[seen.github_id]


def _keep_valid_facts(seen: RepositoryMetadata, told: RepositorySeen) -> RepositoryFacts:
    """Return known facts without those that a push may have changed.

    A build file that was there stays known until GitHub says that it is gone; the absence of one is
    valid only until the next push.
    """
    if told.root is not RootContent.BUILD_FILE and _is_pushed(seen, told):
        return dataclasses.replace(told.facts, root=None)
    return told.facts


def _is_root_current(seen: RepositoryMetadata, told: RepositorySeen | None) -> bool:
    """Return whether the content of the root is known, and nothing was pushed since."""
    return (
        told is not None
        and told.root is not None
        and 'root' not in told.unanswered
        and not _is_pushed(seen, told)
    )


def _is_pushed(seen: RepositoryMetadata, told: RepositorySeen) -> bool:
    return told.pushed_at != seen.pushed_at or told.default_branch != seen.default_branch


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
        for done, number in enumerate(numbers):
            if done % ROOTS_AT_ONCE == 0:
                chunk = numbers[done : done + ROOTS_AT_ONCE]
                survey.ask_for_roots(
                    [hits.repositories[each] for each in chunk if each in hits.repositories]
                )
            survey.add_row(hits, number)
            progress.count_row_and_write_periodically()
            listener.step('repositories', done + 1, len(numbers))


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
