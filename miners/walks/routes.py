"""Where a walk goes, and what it makes of a commit: a pair, or a drop with its reason."""

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
    """Where to walk. `commits` counts those visited, None is all of them.

    until   commits with a later committer date are neither visited nor counted
    since   nor are those with an earlier one
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
    pair_id: ClassVar[None] = None  # what is dropped here is no pair

    def is_code(self, path: str) -> bool:
        """Whether a file is written in the language that is walked."""
        return path.endswith(self.suffixes)

    @property
    def suffixes(self) -> tuple[str, ...]:
        return get_reading(self.language).SUFFIXES

    def make_pair(
        self, old: Commit, new: Commit, *, old_is_ancestor: bool, between: tuple[str, ...] = ()
    ) -> Pair:
        return Pair(
            repo=self.repo,
            language=self.language,
            walk=self.walk,
            old=old,
            new=new,
            old_is_ancestor=old_is_ancestor,
            between=between,
        )

    def drop_unreadable(self, repository: Repository, rev: str, error: CorruptObject) -> Drop:
        """The drop of a commit of which an object cannot be read."""
        lacked = error.name in repository.holes
        reason = Reason.OBJECT_MISSING if lacked else Reason.UNREADABLE_COMMIT
        return self.make_drop(rev, reason, str(error))

    def make_drop(self, rev: str, reason: Reason, detail: str = '') -> Drop:
        return Drop.make_at_stage(Stage.WALK, self, rev, reason, detail)
