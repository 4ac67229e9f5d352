"""Which repositories are candidates: profiles from `candidates.toml` or a user's file, and why not."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import fields
from datetime import date
from enum import StrEnum
from pathlib import Path
from typing import Any

from coevo import licences
from coevo.errors import Fatal
from miners.sightings import Sighting

FORMAT = 1

_OWN = Path(__file__).with_name('candidates.toml')
_OSI = 'osi'


class Reason(StrEnum):
    """Why a repository is no candidate; a value is never renamed."""

    UNKNOWN = 'unknown'
    DELETED = 'deleted'
    BLOCKED = 'blocked'
    DISABLED = 'disabled'
    FORK = 'fork'
    ARCHIVED = 'archived'
    WRONG_LANGUAGE = 'wrong_language'
    TOO_FEW_STARS = 'too_few_stars'
    NO_LICENCE = 'no_licence'
    LICENCE_UNKNOWN = 'licence_unknown'
    LICENCE_NOT_ACCEPTED = 'licence_not_accepted'
    PUSHED_TOO_LONG_AGO = 'pushed_too_long_ago'
    EMPTY = 'empty'
    NO_TOP_LEVEL_POM = 'no_top_level_pom'
    TOO_FEW_CONTRIBUTORS = 'too_few_contributors'


REASONS: dict[Reason, str] = {
    Reason.UNKNOWN: 'GitHub did not answer all that is asked of it; the next crawl asks again',
    Reason.DELETED: 'it was deleted or made private',
    Reason.BLOCKED: 'GitHub blocks it, for a DMCA notice or for breaking its terms',
    Reason.DISABLED: 'GitHub has disabled it',
    Reason.FORK: 'it is a fork, and the profile takes none',
    Reason.ARCHIVED: 'it is archived, and the profile takes none of those',
    Reason.WRONG_LANGUAGE: 'most of it is in another language',
    Reason.TOO_FEW_STARS: 'it has fewer stars than the profile asks for',
    Reason.NO_LICENCE: 'GitHub found no licence in it',
    Reason.LICENCE_UNKNOWN: 'GitHub found a licence whose text it does not know',
    Reason.LICENCE_NOT_ACCEPTED: 'its licence is none of those that the profile accepts',
    Reason.PUSHED_TOO_LONG_AGO: 'nothing was pushed since the day that the profile names',
    Reason.EMPTY: 'it holds no commit',
    Reason.NO_TOP_LEVEL_POM: 'there is no pom.xml at the root of its default branch',
    Reason.TOO_FEW_CONTRIBUTORS: 'it has fewer contributors than the profile asks for',
}


class Presence(StrEnum):
    """Where a repository was met in a crawl."""

    SEARCH = 'search'
    LOOKUP = 'lookup'  # known from an earlier crawl, asked for by its id
    DELETED = 'deleted'
    BLOCKED = 'blocked'


class Root(StrEnum):
    """What lies at the root of the default branch."""

    POM = 'pom'
    NO_POM = 'no_pom'
    EMPTY = 'empty'


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateProfile:
    """What is asked of a candidate; `licences` None takes all that the OSI approved."""

    name: str
    language: str
    stars: int
    licences: tuple[str, ...] | None
    pom: bool
    contributors: int
    forks: bool
    archived: bool
    pushed_since: date | None = None

    @property
    def searches(self) -> tuple[str, ...]:
        """The words of each search, without stars: one for each licence that is named.

        GitHub takes one licence a query; all that the OSI approved would be a hundred queries.
        """
        words = ['is:public', f'language:{self.language}']
        if self.forks:
            words.append('fork:true')
        if not self.archived:
            words.append('archived:false')
        if self.pushed_since is not None:
            words.append(f'pushed:>={self.pushed_since.isoformat()}')
        if self.licences is None:
            return (' '.join(words),)
        return tuple(' '.join([*words, f'license:{one.lower()}']) for one in self.licences)

    def as_json(self) -> dict[str, Any]:
        """What it asks for, as it is recorded with a crawl."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        since = self.pushed_since
        return {**plain, 'pushed_since': since.isoformat() if since is not None else None}

    def accepts(self, license_: str) -> bool:
        if self.licences is None:
            return licences.approved(license_)
        return license_ in self.licences


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What takes a question for each repository; None is not known.

    at_least_contributors  counted up to the two or so that profiles ask for
    """

    root: Root | None = None
    root_etag: str | None = None
    at_least_contributors: int | None = None
    contributors_etag: str | None = None


def reason_against(
    profile: CandidateProfile, seen: Sighting, presence: Presence, facts: Facts
) -> Reason | None:
    """The first reason that holds against a repository; None for a candidate."""
    if presence in _ABSENT:
        return _ABSENT[presence]
    plain = against_sighting(profile, seen)
    if plain is not None:
        return plain
    if (profile.pom and facts.root is None) or _contributors_open(profile, facts):
        return Reason.UNKNOWN
    if profile.pom and facts.root is Root.EMPTY:
        return Reason.EMPTY
    if profile.pom and facts.root is Root.NO_POM:
        return Reason.NO_TOP_LEVEL_POM
    if (facts.at_least_contributors or 0) < profile.contributors:
        return Reason.TOO_FEW_CONTRIBUTORS
    return None


_ABSENT = {
    Presence.DELETED: Reason.DELETED,
    Presence.BLOCKED: Reason.BLOCKED,
}


def _contributors_open(profile: CandidateProfile, facts: Facts) -> bool:
    without_pom = profile.pom and facts.root is not Root.POM
    return not without_pom and profile.contributors > 0 and facts.at_least_contributors is None


def against_sighting(profile: CandidateProfile, seen: Sighting) -> Reason | None:
    """What a search's hit alone says against a repository: no question is spent on it then."""
    if seen.disabled:
        return Reason.DISABLED
    if seen.fork and not profile.forks:
        return Reason.FORK
    if seen.archived and not profile.archived:
        return Reason.ARCHIVED
    if (seen.language or '').lower() != profile.language.lower():
        return Reason.WRONG_LANGUAGE
    if seen.stars < profile.stars:
        return Reason.TOO_FEW_STARS
    return _against_licence(profile, seen.license) or _against_push(profile, seen)


def _against_licence(profile: CandidateProfile, license_: str | None) -> Reason | None:
    if license_ is None:
        return Reason.NO_LICENCE
    if license_ == 'NOASSERTION':
        return Reason.LICENCE_UNKNOWN
    return None if profile.accepts(license_) else Reason.LICENCE_NOT_ACCEPTED


def _against_push(profile: CandidateProfile, seen: Sighting) -> Reason | None:
    since = profile.pushed_since
    if since is None or (seen.pushed_at is not None and seen.pushed_at.date() >= since):
        return None
    return Reason.PUSHED_TOO_LONG_AGO


def load_profile(name: str, file: Path | None = None) -> CandidateProfile:
    """The profile of that name, a user's before our own; Fatal where there is none."""
    known = profiles(file)
    if name not in known:
        raise Fatal(f'there is no profile {name!r} of candidates; there are {", ".join(known)}')
    return known[name]


def profiles(file: Path | None = None) -> dict[str, CandidateProfile]:
    """Ours by name, and those of a user's file, which may replace some; Fatal if it is odd."""
    return _read(_OWN) | (_read(file) if file is not None else {})


def _read(file: Path) -> dict[str, CandidateProfile]:
    try:
        tables = tomllib.loads(file.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise Fatal(f'{file} is no file of profiles: {error}') from error
    version = tables.pop('version', FORMAT)
    if version != FORMAT:
        raise Fatal(f'{file} has version {version!r}; this coevo reads version {FORMAT}')
    return {name: _profile(file, name, table) for name, table in tables.items()}


_KINDS: dict[str, tuple[type, ...]] = {
    'language': (str,),
    'stars': (int,),
    'licences': (str, list),
    'pom': (bool,),
    'contributors': (int,),
    'forks': (bool,),
    'archived': (bool,),
    'pushed_since': (date,),
}


def _profile(file: Path, name: str, table: Any) -> CandidateProfile:
    where = f'profile {name!r} of {file}'
    if not re.fullmatch(r'[\w.-]+', name):
        raise Fatal(f'{where}: a name is made of letters, digits, dots and dashes')
    if not isinstance(table, dict):
        raise Fatal(f'{where} is no table: write [{name}] above its lines')
    _check(where, table)
    osi = table['licences'] == _OSI
    licences_ = None if osi else tuple(sorted(table['licences']))
    return CandidateProfile(name=name, **{**table, 'licences': licences_})


def _check(where: str, table: Mapping[str, Any]) -> None:
    known = {item.name for item in fields(CandidateProfile)} - {'name'}
    for key in sorted(set(table) - known):
        raise Fatal(f'{where} has {key!r}, which means nothing; there are {", ".join(_KINDS)}')
    for key in sorted(known - set(table) - {'pushed_since'}):
        raise Fatal(f'{where} lacks {key!r}; miners/candidates.toml shows how it is written')
    for key, value in table.items():
        if type(value) not in _KINDS[key]:
            raise Fatal(f'{where} has {key} = {value!r}, which is of the wrong kind')
    if not re.fullmatch(r'[\w+#.-]+', table['language']):
        raise Fatal(f'{where}: language is one word, as GitHub writes it')
    if not 0 <= table['contributors'] <= 100:
        raise Fatal(f'{where}: contributors is a number up to 100, as many as GitHub lists at once')
    named = table['licences']
    if named != _OSI and (isinstance(named, str) or not all(type(one) is str for one in named)):
        raise Fatal(f'{where}: licences is "osi" or a list of SPDX ids')
