"""The bounds of a walk, and the pairs and drops that it makes of commits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from coevo.git.repository import CorruptObject, Repository
from coevo.languages.table import get_reading
from coevo.model.drops import Drop
from coevo.model.reasons import Reason
from coevo.model.records import Commit, Pair
from coevo.model.words import Stage, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """The bounds of a walk.

    commits  the number of commits to visit; None visits all
    until    commits with a later committer date are neither visited nor counted
    since    commits with an earlier committer date are neither visited nor counted
    beside_release  whether the walk `single_revision` visits the latest release, too
    """

    repo: str
    language: str
    walk: Walk
    ref: str
    commits: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    beside_release: bool = False
    pair_id: ClassVar[None] = None  # a drop of a walk belongs to no pair

    def is_code(self, path: str) -> bool:
        """Return whether a file is written in the language of the walk."""
        return path.endswith(self.suffixes)

    @property
    def suffixes(self) -> tuple[str, ...]:
        """The suffixes of source files in the language of the walk."""
        return get_reading(self.language).SUFFIXES

    def make_pair(
        self, old: Commit, new: Commit, *, old_is_ancestor: bool, between: tuple[str, ...] = ()
    ) -> Pair:
        """Return a pair of this walk."""
        return Pair(
            repo=self.repo,
            language=self.language,
            walk=self.walk,
            old=old,
            new=new,
            old_is_ancestor=old_is_ancestor,
            between=between,
        )

    def make_unreadable_drop(self, repository: Repository, rev: str, error: CorruptObject) -> Drop:
        """Return the drop of a commit with an object that cannot be read.

        The reason is `object_missing` if the clone's source lacks the object, else
        `unreadable_commit`.
        """
        lacked = error.name in repository.absent_object_ids
        reason = Reason.OBJECT_MISSING if lacked else Reason.UNREADABLE_COMMIT
        return self.make_drop(rev, reason, str(error))

    def make_drop(self, rev: str, reason: Reason, detail: str = '') -> Drop:
        """Return the drop of a commit with a reason."""
        return Drop.make_drop_at_stage(Stage.WALK, self, rev, reason, detail)
