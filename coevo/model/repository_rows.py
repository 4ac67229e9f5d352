"""The row type of the table `repositories`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.model.column import Column, LanguageName, RepoName, SandboxName
from coevo.model.words import Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRow:
    """A repository as one walk in one language saw it; (repo, language, walk) is the key."""

    repo: RepoName
    url: Annotated[
        str | None, Column('Where the repository was cloned from. Null for a local one.')
    ]
    github_id: Annotated[
        int | None,
        Column(
            'The number of the repository on GitHub, which survives renames. Null if it '
            'is not known.'
        ),
    ] = None
    language: LanguageName
    walk: Annotated[Walk, Column('The walk that visited the commits.')]
    ref: Annotated[str, Column('What the walk started from, such as `HEAD` or a tag.')]
    head: Annotated[str, Column('The hash of the newest commit of the walk.')]
    cutoff: Annotated[
        datetime | None,
        Column(
            'The time after which no commit counts. If none was given, the date of the newest visited commit. Null if that cannot be read.'
        ),
    ]
    commits_visited: Annotated[int, Column('How many commits the walk visited.', unit='commits')]
    commits_kept: Annotated[int, Column('How many of them end a pair.', unit='commits')]
    pairs_found: Annotated[
        int,
        Column(
            'How many pairs the walk found. More than `commits_kept` under the walk `window` only.',
            unit='pairs',
        ),
    ]
    license: Annotated[
        str | None, Column('The SPDX expression of the licence at the head. Null if it is unknown.')
    ]
    family: Annotated[
        str | None,
        Column(
            'The first repository of the snapshot that shares a commit with this one, or '
            'itself. Forks have one family. Null before the release.'
        ),
    ] = None
    source_files: Annotated[
        int | None,
        Column(
            'Source files of the language at the head. Null if they cannot be read. '
            'Filled at release.',
            unit='files',
        ),
    ] = None
    source_lines: Annotated[
        int | None,
        Column(
            'Lines of these files, with comments and blank lines. Null if they cannot be read.',
            unit='lines',
        ),
    ] = None
    sandbox: SandboxName
    engine_version: Annotated[
        str,
        Column(
            'The digest of the code that decided the rows, as far as the walk was mined last. It changes'
            ' only if rows may change. In snapshots of schema 2 it is a number that counts up.'
        ),
    ]
    profile: Annotated[str, Column('The named set of thresholds, such as `default` or `testevo`.')]
