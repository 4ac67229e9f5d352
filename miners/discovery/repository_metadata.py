"""Metadata of a repository from GitHub's API, as a record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from coevo.model.errors import Transient


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
