"""Crawl GitHub for candidates: search, ask what a search does not tell, compare with the crawl
before, and write down what was seen and why each repository was kept or dropped."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from datetime import UTC
from datetime import datetime
from pathlib import Path
from typing import Any
from typing import TypeVar

from coevo.errors import Transient
from flows import crawls
from flows.crawl_events import events
from flows.crawl_rows import Event
from flows.crawl_rows import QueryRead
from flows.crawl_rows import RepositorySeen
from flows.listener import SILENT
from flows.listener import Listener
from miners.budgets import Clock
from miners.candidates import CandidateProfile
from miners.candidates import Facts
from miners.candidates import Presence
from miners.candidates import Reason
from miners.candidates import Root
from miners.candidates import against_sighting
from miners.candidates import reason_against
from miners.github import Hits
from miners.github import ask_contributors
from miners.github import ask_root
from miners.github import discover
from miners.github import look_up
from miners.github_requests import PUBLIC_API
from miners.github_requests import Api
from miners.github_requests import Patience
from miners.github_requests import Requests
from miners.github_search import Outcome
from miners.github_tokens import Token
from miners.sightings import Sighting

# After so many questions in a row without an answer the rest is left for the next crawl.
_GIVE_UP = 3

_T = TypeVar('_T')


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlOptions:
    """One crawl; `now` None is the present."""

    store: Path
    profile: CandidateProfile
    tokens: tuple[Token, ...]
    api: str = PUBLIC_API
    now: datetime | None = None
    clock: Clock = field(default_factory=Clock)
    patience: Patience = field(default_factory=Patience)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrawlReport:
    """What a crawl did.

    proven   whether no repository that the searches cover can be missing
    unsplit  queries that have more repositories than GitHub shows and cannot be split further
    """

    stamp: str
    folder: Path
    profile: str
    found: int
    seen: int
    kept: int
    unknown: int
    proven: bool
    unsplit: tuple[str, ...]
    events: tuple[Event, ...]
    requests: Requests
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """From earlier crawls: the rows of the profile's last one, and the key of every repository."""

    rows: Mapping[int, RepositorySeen]
    keys: Mapping[int, str]
    first: bool


def crawl(options: CrawlOptions, listener: Listener = SILENT) -> CrawlReport:
    """Crawl once and leave `STORE/crawls/STAMP/`.

    Transient, with nothing written, if the searches cannot be read; a repository that cannot be
    asked is `unknown`. Fatal if GitHub takes none of the tokens.
    """
    with crawls.crawling(options.store):
        stamp = crawls.next_stamp(options.store, options.now or _now(options.clock))
        known = _known(options)
        api = Api(options.api, options.tokens, options.clock, options.patience)
        try:
            listener.say('searching')
            hits = discover(api, options.profile, _time(stamp))
            rows = _Survey(options.profile, api, stamp, known, listener).rows(hits)
        finally:
            api.close()
        happened = () if known.first else events(known.rows, rows)
        return _written(options, stamp, hits, rows, happened, api)


class _Survey:
    """Turns hits and what is known into rows, asking as little as may be."""

    def __init__(
        self, profile: CandidateProfile, api: Api, stamp: str, known: _Known, listener: Listener
    ) -> None:
        self._profile = profile
        self._api = api
        self._stamp = stamp
        self._known = known
        self._listener = listener
        self._silent = 0
        self._keys = dict(known.keys)
        self._taken = {key.lower() for key in known.keys.values()}

    def rows(self, hits: Hits) -> tuple[RepositorySeen, ...]:
        """By `repo`; the older repository is asked first, so keys fall the same way each time."""
        numbers = sorted({*hits.sightings, *self._known.rows})
        rows = []
        for done, number in enumerate(numbers, 1):
            seen = hits.sightings.get(number)
            rows.append(self._searched(seen) if seen is not None else self._missed(number))
            self._listener.step('repositories', done, len(numbers))
        return tuple(sorted(rows, key=lambda row: row.repo))

    def _searched(self, seen: Sighting) -> RepositorySeen:
        before = self._known.rows.get(seen.github_id)
        etag = before.lookup_etag if before is not None else None
        return self._row(seen, Presence.SEARCH, etag)

    def _missed(self, number: int) -> RepositorySeen:
        """A known repository that no search finds: what has become of it is asked for once."""
        before = self._known.rows[number]
        if before.presence in (Presence.DELETED, Presence.BLOCKED):
            return before
        found = self._answered(lambda: look_up(self._api, number, before.lookup_etag))
        if found is None:
            open_ = (*before.unanswered, 'lookup')
            return dataclasses.replace(
                before, kept=False, reason=Reason.UNKNOWN, unanswered=tuple(sorted({*open_}))
            )
        if found.presence is not Presence.LOOKUP:
            reason = reason_against(self._profile, before.sighting, found.presence, before.facts)
            return dataclasses.replace(
                before, presence=found.presence, kept=False, reason=reason, unanswered=()
            )
        return self._row(found.seen or before.sighting, Presence.LOOKUP, found.etag)

    def _row(self, seen: Sighting, presence: Presence, etag: str | None) -> RepositorySeen:
        before = self._known.rows.get(seen.github_id)
        facts, unanswered = self._facts(seen, before)
        reason = reason_against(self._profile, seen, presence, facts)
        return RepositorySeen(
            **_fields(seen),
            **_fields(facts),
            repo=self._key(seen),
            presence=presence,
            kept=reason is None,
            reason=reason,
            unanswered=unanswered,
            first_seen=before.first_seen if before is not None else self._stamp,
            last_seen=self._stamp,
            lookup_etag=etag,
        )

    def _facts(
        self, seen: Sighting, before: RepositorySeen | None
    ) -> tuple[Facts, tuple[str, ...]]:
        """What takes questions, asked only of what may be a candidate; and what stays open."""
        facts = before.facts if before is not None else Facts()
        if against_sighting(self._profile, seen) is not None:
            return facts, ()
        unanswered = []
        if self._profile.pom and not _still_without_pom(seen, before):
            known = facts
            asked = self._answered(lambda: ask_root(self._api, seen.github_id, known))
            unanswered += ['root'] if asked is None else []
            facts = asked or facts
        if self._profile.contributors and facts.root in (Root.POM, None):
            known = facts
            wanted = self._profile.contributors
            asked = self._answered(
                lambda: ask_contributors(self._api, seen.github_id, known, wanted)
            )
            unanswered += ['contributors'] if asked is None else []
            facts = asked or facts
        return facts, tuple(sorted(unanswered))

    def _answered(self, ask: Callable[[], _T]) -> _T | None:
        """None if GitHub gives no answer; after some of these nothing more is asked."""
        if self._silent >= _GIVE_UP:
            return None
        try:
            found = ask()
        except Transient as trouble:
            self._silent += 1
            self._listener.say(str(trouble))
            return None
        self._silent = 0
        return found

    def _key(self, seen: Sighting) -> str:
        """The name at first sight, with the number if another repository was called that once."""
        if seen.github_id not in self._keys:
            free = seen.full_name.lower() not in self._taken
            key = seen.full_name if free else f'{seen.full_name}.{seen.github_id}'
            self._keys[seen.github_id] = key
            self._taken.add(key.lower())
        return self._keys[seen.github_id]


def _still_without_pom(seen: Sighting, before: RepositorySeen | None) -> bool:
    """A root without a POM stays so while nothing is pushed; such an answer has no ETag."""
    return (
        before is not None
        and before.root in (Root.NO_POM, Root.EMPTY)
        and before.pushed_at == seen.pushed_at
        and before.default_branch == seen.default_branch
    )


def _known(options: CrawlOptions) -> _Known:
    keys: dict[int, str] = {}
    rows: Mapping[int, RepositorySeen] = {}
    latest = crawls.latest(options.store)
    for name, folder in latest.items():
        found = {row.github_id: row for row in crawls.read_repositories(folder)}
        keys |= {number: row.repo for number, row in found.items()}
        if name == options.profile.name:
            rows = found
    return _Known(rows=rows, keys=keys, first=options.profile.name not in latest)


def _written(
    options: CrawlOptions,
    stamp: str,
    hits: Hits,
    rows: tuple[RepositorySeen, ...],
    happened: tuple[Event, ...],
    api: Api,
) -> CrawlReport:
    unknown = sum(row.reason is Reason.UNKNOWN for row in rows)
    kept = sum(row.kept for row in rows)
    about = {
        'profile': _plain(options.profile),
        'found': len(hits.sightings),
        'seen': len(rows),
        'kept': kept,
        'unknown': unknown,
        'proven': hits.proven,
    }
    queries = tuple(QueryRead(**_fields(one)) for one in hits.parts)
    folder = crawls.write_crawl(
        options.store,
        stamp,
        crawls.Crawl(about=about, repositories=rows, events=happened, queries=queries),
    )
    return CrawlReport(
        stamp=stamp,
        folder=folder,
        profile=options.profile.name,
        found=len(hits.sightings),
        seen=len(rows),
        kept=kept,
        unknown=unknown,
        proven=hits.proven,
        unsplit=tuple(one.query for one in hits.parts if one.outcome is Outcome.UNSPLITTABLE),
        events=happened,
        requests=api.requests,
        warnings=tuple(api.warnings),
    )


def _fields(record: Any) -> dict[str, Any]:
    """A record's fields, one level deep."""
    return {item.name: getattr(record, item.name) for item in dataclasses.fields(record)}


def _plain(profile: CandidateProfile) -> dict[str, Any]:
    """The profile as JSON."""
    since = profile.pushed_since
    return {**_fields(profile), 'pushed_since': since.isoformat() if since else None}


def _now(clock: Clock) -> datetime:
    return datetime.fromtimestamp(clock.wall(), tz=UTC).replace(microsecond=0)


def _time(stamp: str) -> datetime:
    return datetime.strptime(stamp, '%Y%m%dT%H%M%SZ').replace(tzinfo=UTC)
