"""Profiles of candidates: the conditions for a repository.

They are read from `candidates.toml` or a user's file.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from coevo.languages.table import LANGUAGES
from coevo.model import licences
from coevo.model.errors import Fatal

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
