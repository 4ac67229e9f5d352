"""The reasons why a whole repository cannot be cloned.

That is a drop in a run over many repositories, and an error in a run over a single one. The values
are recorded; one is never renamed.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coevo.model.errors import Fatal


class RepositoryReason(StrEnum):
    """The reasons why a repository cannot be cloned."""

    CLONE_TOO_LARGE = 'clone_too_large'
    EMPTY = 'empty'
    GONE = 'gone'
    FORBIDDEN = 'forbidden'
    SHALLOW = 'shallow'
    UNREADABLE = 'unreadable'
    ANOTHER_REPOSITORY = 'another_repository'


REPOSITORY_REASONS = {
    RepositoryReason.CLONE_TOO_LARGE: 'Its history takes more bytes than a clone may have.',
    RepositoryReason.EMPTY: 'It has no commit.',
    RepositoryReason.GONE: 'It cannot be found, or is private, which its server does not tell.',
    RepositoryReason.FORBIDDEN: 'It cannot be read without logging in, or was blocked.',
    RepositoryReason.SHALLOW: 'It is a shallow clone, which hides when a test was first public.',
    RepositoryReason.UNREADABLE: 'Git or coevo cannot read it where it lies.',
    RepositoryReason.ANOTHER_REPOSITORY: 'It has no commit in common with the clone of its name.',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryDrop:
    """A repository that was dropped before it had pairs; `detail` is a sentence without secrets."""

    repo: str
    reason: RepositoryReason
    detail: str


class Unclonable(Fatal):
    """A repository that cannot be cloned as long as it and the limits stay as they are.

    A command for one repository ends with it; a run over many records a drop and continues.
    """

    def __init__(self, reason: RepositoryReason, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason

    def make_drop(self, repo: str) -> RepositoryDrop:
        """Return the drop of the repository with this reason."""
        return RepositoryDrop(repo=repo, reason=self.reason, detail=str(self))
