"""Profiles of candidates, and the decision which repositories are candidates."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from coevo.languages.table import LANGUAGES
from coevo.model import licences
from coevo.model.errors import Fatal, Transient

# Profiles of candidates: the conditions for a repository.
#
# They are read from `candidates.toml` or a user's file.

FORMAT = 1

_OWN = Path(__file__).with_name('candidates.toml')
_OSI = 'osi'


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateProfile:
    """The conditions for a candidate.

    licences      SPDX ids that are accepted; None accepts every licence that the OSI approved
    build_file    whether a build file of the language must be at the root
    contributors  least number of contributors
    forks         whether forks are accepted, too
    archived      whether archived repositories are accepted, too
    """

    name: str
    language: str
    stars: int
    licences: tuple[str, ...] | None
    build_file: bool
    contributors: int
    forks: bool
    archived: bool
    pushed_since: date | None = None

    @property
    def build_files(self) -> tuple[str, ...]:
        """The build files of which one must be at the root; empty if none is required."""
        known = LANGUAGES.get(self.language.lower()) if self.build_file else None
        return known.BUILD_FILES if known is not None else ()

    @property
    def search_queries(self) -> tuple[str, ...]:
        """The words of each search without stars: one search for each licence that is named.

        GitHub takes one licence in a query; all licences that the OSI approved would need a hundred
        queries.
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
        return tuple(' '.join([*words, f'license:{licence.lower()}']) for licence in self.licences)

    def as_json(self) -> dict[str, Any]:
        """Return the conditions as they are recorded with a crawl."""
        plain = {item.name: getattr(self, item.name) for item in fields(self)}
        since = self.pushed_since
        return {**plain, 'pushed_since': since.isoformat() if since is not None else None}

    def accepts_licence(self, license_: str) -> bool:
        """Return whether the profile accepts an SPDX id."""
        if self.licences is None:
            return licences.is_approved(license_)
        return license_ in self.licences


def load_candidate_profile(name: str, file: Path | None = None) -> CandidateProfile:
    """Return the profile of that name; a user's profile replaces a built-in one.

    Raises: Fatal if there is none, or the user's file is invalid.
    """
    known = load_candidate_profiles(file)
    if name not in known:
        raise Fatal(f'there is no profile {name!r} of candidates; there are {", ".join(known)}')
    return known[name]


def load_candidate_profiles(file: Path | None = None) -> dict[str, CandidateProfile]:
    """Return the built-in profiles and those of a user's file, by name.

    Raises: Fatal if the file is invalid.
    """
    return _load_candidate_profiles(_OWN) | (
        _load_candidate_profiles(file) if file is not None else {}
    )


def _load_candidate_profiles(file: Path) -> dict[str, CandidateProfile]:
    try:
        tables = tomllib.loads(file.read_text(encoding='utf-8'))
    except (OSError, ValueError) as error:
        raise Fatal(f'{file} is no file of profiles: {error}') from error
    version = tables.pop('version', FORMAT)
    if version != FORMAT:
        raise Fatal(f'{file} has version {version!r}; this coevo reads version {FORMAT}')
    return {name: _parse_profile(file, name, table) for name, table in tables.items()}


_KINDS: dict[str, tuple[type, ...]] = {
    'language': (str,),
    'stars': (int,),
    'licences': (str, list),
    'build_file': (bool,),
    'contributors': (int,),
    'forks': (bool,),
    'archived': (bool,),
    'pushed_since': (date,),
}


def _parse_profile(file: Path, name: str, table: Any) -> CandidateProfile:
    where = f'profile {name!r} of {file}'
    if not re.fullmatch(r'[\w.-]+', name):
        raise Fatal(f'{where}: a name is made of letters, digits, dots and dashes')
    if not isinstance(table, dict):
        raise Fatal(f'{where} is no table: write [{name}] above its lines')
    _check_table(where, table)
    osi = table['licences'] == _OSI
    licences_ = None if osi else tuple(sorted(table['licences']))
    return CandidateProfile(name=name, **{**table, 'licences': licences_})


def _check_table(where: str, table: Mapping[str, Any]) -> None:
    known = {item.name for item in fields(CandidateProfile)} - {'name'}
    for key in sorted(set(table) - known):
        raise Fatal(f'{where} has {key!r}, which means nothing; there are {", ".join(_KINDS)}')
    for key in sorted(known - set(table) - {'pushed_since'}):
        raise Fatal(
            f'{where} lacks {key!r}; miners/discovery/candidates.toml shows how it is written'
        )
    for key, value in table.items():
        if type(value) not in _KINDS[key]:
            raise Fatal(f'{where} has {key} = {value!r}, which is of the wrong kind')
    if not re.fullmatch(r'[\w+#.-]+', table['language']):
        raise Fatal(f'{where}: language is one word, as GitHub writes it')
    if table['build_file'] and table['language'].lower() not in LANGUAGES:
        raise Fatal(
            f'{where}: coevo does not know by which file {table["language"]} is built; '
            'set build_file = false'
        )
    if not 0 <= table['contributors'] <= 100:
        raise Fatal(f'{where}: contributors is a number up to 100, as many as GitHub lists at once')
    named = table['licences']
    if named != _OSI and (
        isinstance(named, str) or not all(type(licence) is str for licence in named)
    ):
        raise Fatal(f'{where}: licences is "osi" or a list of SPDX ids')


# Decide which repositories are candidates, and why the others are not.


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryMetadata:
    """One repository as it is now.

    license  SPDX id; `NOASSERTION` is a text that GitHub does not recognise, None is no text at all
    fork     whether GitHub says that it was forked from another repository
    """

    github_id: int
    full_name: str
    clone_url: str
    default_branch: str
    stars: int
    license: str | None
    language: str | None
    archived: bool
    disabled: bool
    fork: bool
    created_at: datetime
    pushed_at: datetime | None

    @property
    def owner(self) -> str:
        """The owner in the full name."""
        return self.full_name.partition('/')[0]


def parse_metadata(item: dict[str, Any]) -> RepositoryMetadata:
    """Return the metadata in a `repo-search-result-item` or `full-repository` of GitHub's API.

    Raises: Transient if something is missing: absent data is never read as none.
    """
    try:
        license_ = item['license']
        return RepositoryMetadata(
            github_id=int(item['id']),
            full_name=_check_text(item['full_name']),
            clone_url=_check_text(item['clone_url']),
            default_branch=_check_text(item['default_branch']),
            stars=int(item['stargazers_count']),
            license=None if license_ is None else license_['spdx_id'] or 'NOASSERTION',
            language=item['language'],
            archived=bool(item['archived']),
            disabled=bool(item['disabled']),
            fork=bool(item['fork']),
            created_at=datetime.fromisoformat(item['created_at']),
            pushed_at=datetime.fromisoformat(item['pushed_at']) if item['pushed_at'] else None,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Transient(f'GitHub described a repository otherwise than agreed: {error!r}') from None


def _check_text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError(value)
    return value


class CandidateReason(StrEnum):
    """The reasons why a repository is no candidate; a value is never renamed."""

    UNKNOWN = 'unknown'
    WITHDRAWN = 'withdrawn'
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
    NO_BUILD_FILE = 'no_build_file'
    TOO_FEW_CONTRIBUTORS = 'too_few_contributors'


REASONS: dict[CandidateReason, str] = {
    CandidateReason.UNKNOWN: 'GitHub did not answer all that is asked of it; the next crawl asks again',
    CandidateReason.WITHDRAWN: 'it is withdrawn by those who maintain the data',
    CandidateReason.DELETED: 'it was deleted or made private',
    CandidateReason.BLOCKED: 'GitHub blocks it, for a DMCA notice or for breaking its terms',
    CandidateReason.DISABLED: 'GitHub has disabled it',
    CandidateReason.FORK: 'it is a fork, and the profile takes none',
    CandidateReason.ARCHIVED: 'it is archived, and the profile takes none of those',
    CandidateReason.WRONG_LANGUAGE: 'most of it is in another language',
    CandidateReason.TOO_FEW_STARS: 'it has fewer stars than the profile asks for',
    CandidateReason.NO_LICENCE: 'GitHub found no licence in it',
    CandidateReason.LICENCE_UNKNOWN: 'GitHub found a licence whose text it does not know',
    CandidateReason.LICENCE_NOT_ACCEPTED: 'its licence is none of those that the profile accepts',
    CandidateReason.PUSHED_TOO_LONG_AGO: 'nothing was pushed since the day that the profile names',
    CandidateReason.EMPTY: 'it holds no commit',
    CandidateReason.NO_BUILD_FILE: 'there is no build file at the root of its default branch',
    CandidateReason.TOO_FEW_CONTRIBUTORS: 'it has fewer contributors than the profile asks for',
}


class Presence(StrEnum):
    """The way in which a crawl found a repository."""

    SEARCH = 'search'
    LOOKUP = 'lookup'  # known from an earlier crawl, looked up by its id
    DELETED = 'deleted'
    BLOCKED = 'blocked'


class RootContent(StrEnum):
    """The content of the root of the default branch."""

    BUILD_FILE = 'build_file'
    NO_BUILD_FILE = 'no_build_file'
    EMPTY = 'empty'


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryFacts:
    """Facts that need a request for each repository; None is unknown.

    at_least_contributors  counted only up to the few that profiles demand
    """

    root: RootContent | None = None
    at_least_contributors: int | None = None
    contributors_etag: str | None = None


def find_reason_against(
    profile: CandidateProfile, seen: RepositoryMetadata, presence: Presence, facts: RepositoryFacts
) -> CandidateReason | None:
    """Return the first reason against a repository; None for a candidate."""
    if presence in _ABSENT:
        return _ABSENT[presence]
    plain = check_metadata(profile, seen)
    if plain is not None:
        return plain
    if (profile.build_file and facts.root is None) or _are_contributors_unknown(profile, facts):
        return CandidateReason.UNKNOWN
    if profile.build_file and facts.root is RootContent.EMPTY:
        return CandidateReason.EMPTY
    if profile.build_file and facts.root is RootContent.NO_BUILD_FILE:
        return CandidateReason.NO_BUILD_FILE
    if (facts.at_least_contributors or 0) < profile.contributors:
        return CandidateReason.TOO_FEW_CONTRIBUTORS
    return None


_ABSENT = {
    Presence.DELETED: CandidateReason.DELETED,
    Presence.BLOCKED: CandidateReason.BLOCKED,
}


def _are_contributors_unknown(profile: CandidateProfile, facts: RepositoryFacts) -> bool:
    without_build_file = profile.build_file and facts.root is not RootContent.BUILD_FILE
    return (
        not without_build_file and profile.contributors > 0 and facts.at_least_contributors is None
    )


def check_metadata(profile: CandidateProfile, seen: RepositoryMetadata) -> CandidateReason | None:
    """Return the reason against a repository that its metadata alone gives; None if there is none.

    With a reason, no further requests are needed.
    """
    if seen.disabled:
        return CandidateReason.DISABLED
    if seen.fork and not profile.forks:
        return CandidateReason.FORK
    if seen.archived and not profile.archived:
        return CandidateReason.ARCHIVED
    if (seen.language or '').lower() != profile.language.lower():
        return CandidateReason.WRONG_LANGUAGE
    if seen.stars < profile.stars:
        return CandidateReason.TOO_FEW_STARS
    return _check_licence(profile, seen.license) or _check_push(profile, seen)


def _check_licence(profile: CandidateProfile, license_: str | None) -> CandidateReason | None:
    if license_ is None:
        return CandidateReason.NO_LICENCE
    if license_ == 'NOASSERTION':
        return CandidateReason.LICENCE_UNKNOWN
    return None if profile.accepts_licence(license_) else CandidateReason.LICENCE_NOT_ACCEPTED


def _check_push(profile: CandidateProfile, seen: RepositoryMetadata) -> CandidateReason | None:
    since = profile.pushed_since
    if since is None or (seen.pushed_at is not None and seen.pushed_at.date() >= since):
        return None
    return CandidateReason.PUSHED_TOO_LONG_AGO
