"""From what searches found and what is known to a row for each repository, with few questions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from coevo.model.errors import Transient
from coevo.model.listener import Listener
from flows.crawling.rows import RepositorySeen
from miners.discovery.candidate_profiles import CandidateProfile
from miners.discovery.candidates import CandidateReason
from miners.discovery.candidates import Facts
from miners.discovery.candidates import Presence
from miners.discovery.candidates import Root
from miners.discovery.candidates import against_metadata
from miners.discovery.candidates import reason_against
from miners.discovery.github import Hits
from miners.discovery.github import ask_contributors
from miners.discovery.github import ask_root
from miners.discovery.github import look_up
from miners.discovery.github_requests import GitHubApi
from miners.discovery.repository_metadata import RepositoryMetadata

# After so many questions in a row without an answer the rest is left for the next crawl.
_GIVE_UP = 3
_WITHOUT_POM = (Root.NO_BUILD_FILE, Root.EMPTY)

_T = TypeVar('_T')


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBefore:
    """From earlier crawls of all profiles.

    rows     of the profile's last crawl, by number
    keys     what each repository is called in the data, by number
    answers  what a crawl that did not get to its end was told, by number; nothing else of it counts
    """

    rows: Mapping[int, RepositorySeen]
    keys: Mapping[int, str]
    answers: Mapping[int, RepositorySeen]

    def told(self, number: int) -> RepositorySeen | None:
        """The latest row that holds answers, with their ETags."""
        return self.answers.get(number, self.rows.get(number))


class Survey:
    """One crawl's rows; `rows` holds those that there are so far, by number."""

    def __init__(
        self,
        profile: CandidateProfile,
        api: GitHubApi,
        stamp: str,
        known: KnownBefore,
        listener: Listener,
    ) -> None:
        self.rows: dict[int, RepositorySeen] = {}
        self._profile = profile
        self._api = api
        self._stamp = stamp
        self._known = known
        self._listener = listener
        self._silent = 0
        self._keys = dict(known.keys)
        self._taken = {key.lower() for key in known.keys.values()}

    def take(self, hits: Hits, number: int) -> None:
        """Add the row of one repository. Older ones come first, so keys always fall the same."""
        seen = hits.repositories.get(number)
        if seen is not None:
            told = self._known.told(number)
            etag = told.lookup_etag if told is not None else None
            self.rows[number] = self._row(seen, Presence.SEARCH, etag)
        else:
            self.rows[number] = self._missed(number)

    def _missed(self, number: int) -> RepositorySeen:
        """A known repository that no search finds: what has become of it?"""
        before = self._known.rows[number]
        if before.presence in (Presence.DELETED, Presence.BLOCKED):
            return before
        told = self._known.told(number) or before
        found = self._answered(partial(look_up, self._api, number, told.lookup_etag))
        if found is None:
            return dataclasses.replace(
                before, kept=False, reason=CandidateReason.UNKNOWN, unanswered=('lookup',)
            )
        if found.presence is not Presence.LOOKUP:
            reason = reason_against(self._profile, before.metadata, found.presence, before.facts)
            return dataclasses.replace(
                before, presence=found.presence, kept=False, reason=reason, unanswered=()
            )
        return self._row(found.seen or told.metadata, Presence.LOOKUP, found.etag)

    def _row(
        self, seen: RepositoryMetadata, presence: Presence, etag: str | None
    ) -> RepositorySeen:
        before = self._known.rows.get(seen.github_id)
        facts, unanswered = self._facts(seen)
        reason = reason_against(self._profile, seen, presence, facts)
        return RepositorySeen(
            **dataclasses.asdict(seen),
            **dataclasses.asdict(facts),
            repo=self._key(seen),
            presence=presence,
            kept=reason is None,
            reason=reason,
            unanswered=unanswered,
            first_seen=before.first_seen if before is not None else self._stamp,
            last_seen=self._stamp,
            lookup_etag=etag,
        )

    def _facts(self, seen: RepositoryMetadata) -> tuple[Facts, tuple[str, ...]]:
        """What takes questions, asked only of what may be a candidate; and what stays open."""
        told = self._known.told(seen.github_id)
        facts = _still_true(seen, told) if told is not None else Facts()
        if against_metadata(self._profile, seen) is not None:
            return facts, ()
        unanswered = []
        if self._profile.build_file and facts.root not in _WITHOUT_POM:
            asked = self._answered(partial(self._root, seen, facts))
            unanswered += ['root'] if asked is None else []
            facts = asked or facts
        if self._profile.contributors and (
            not self._profile.build_file or facts.root is Root.BUILD_FILE
        ):
            asked = self._answered(partial(self._contributors, seen, facts))
            unanswered += ['contributors'] if asked is None else []
            facts = asked or facts
        return facts, tuple(sorted(unanswered))

    def _root(self, seen: RepositoryMetadata, facts: Facts) -> Facts:
        return ask_root(self._api, seen.github_id, facts, self._profile.build_files)

    def _contributors(self, seen: RepositoryMetadata, facts: Facts) -> Facts:
        return ask_contributors(self._api, seen.github_id, facts, self._profile.contributors)

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

    def _key(self, seen: RepositoryMetadata) -> str:
        """The name at first sight, with the number if another repository was called that once."""
        if seen.github_id not in self._keys:
            free = seen.full_name.lower() not in self._taken
            key = seen.full_name if free else f'{seen.full_name}.{seen.github_id}'
            self._keys[seen.github_id] = key
            self._taken.add(key.lower())
        return self._keys[seen.github_id]


def _still_true(seen: RepositoryMetadata, told: RepositorySeen) -> Facts:
    """What was told, without what a push may have made wrong and no ETag can ask for.

    A root without a POM is such an answer: it stays so while nothing is pushed, no longer.
    """
    pushed = told.pushed_at != seen.pushed_at or told.default_branch != seen.default_branch
    if pushed and told.root in _WITHOUT_POM:
        return dataclasses.replace(told.facts, root=None)
    return told.facts
