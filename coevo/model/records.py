"""What mining speaks of: test methods, commits, pairs of them, and candidates of a pair."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from coevo.model.dependencies import Dependency
from coevo.model.drops import MethodIdentity
from coevo.model.words import MethodChange, Walk


@dataclass(frozen=True, slots=True, kw_only=True)
class TestMethod:
    """A test method where it is declared.

    module      folder of its Maven module, '.' for the root
    test_file   path in the repository, with forward slashes
    test_class  binary name of the declaring class, `pkg.Outer$Inner`
    parameters  erased simple names of the parameter types, in order
    """

    __test__ = False  # not a test class of pytest's

    module: str
    test_file: str
    test_class: str
    test_method: str
    parameters: tuple[str, ...] = ()


class FileOrigin(StrEnum):
    """Where a file comes from: a person here, a program, or another project."""

    WRITTEN = 'written'
    GENERATED = 'generated'
    VENDORED = 'vendored'


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A test method of a pair, as the diff sees it: `old` is None if inserted, `new` if deleted.

    origin  that of its file, at new where it stands there
    """

    change: MethodChange
    old: TestMethod | None
    new: TestMethod | None
    old_source: str | None
    new_source: str | None
    dependencies: tuple[Dependency, ...] = ()
    focal_method: str | None = None
    origin: FileOrigin = FileOrigin.WRITTEN

    @property
    def method(self) -> TestMethod:
        """The identity that names the row: at new, or at old where it was deleted."""
        method = self.new or self.old
        assert method is not None, 'a candidate exists at one end at least'
        return method


def compute_short_hash(*parts: str) -> str:
    """A stable id of 16 hexadecimal digits."""
    return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit's metadata; dates are UTC, None where Git's are unparsable or out of range."""

    rev: str
    parents: tuple[str, ...]
    author_date: datetime | None
    committer_date: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two revisions adjacent under a walk.

    between  states that lie between the two, the newest first (walk `window`)
    """

    repo: str
    language: str
    walk: Walk
    old: Commit
    new: Commit
    old_is_ancestor: bool
    between: tuple[str, ...] = ()

    @property
    def pair_id(self) -> str:
        """Stable over walks: (pair_id, walk) is the key of the `pairs` table."""
        return compute_short_hash(self.repo, self.language, self.old.rev, self.new.rev)

    @property
    def gap_hours(self) -> float | None:
        """Hours between the two by committer time, negative where clocks disagree."""
        if self.old.committer_date is None or self.new.committer_date is None:
            return None
        seconds = (self.new.committer_date - self.old.committer_date).total_seconds()
        return round(seconds / 3600, 3)


# The keys by which rows of different steps are known to be of the same thing.


def compute_candidate_id(pair: Pair, candidate: Candidate) -> str:
    """The stable id of a test method in a pair, the same under every walk."""
    return compute_method_id(pair.pair_id, candidate.change, candidate.method)


def compute_method_id(pair_id: str, change: MethodChange, method: MethodIdentity) -> str:
    """The same of any record that says which method it is.

    A deleted method is kept apart from one that came to stand under its name.
    """
    return compute_short_hash(
        pair_id,
        'deleted' if change is MethodChange.DELETED else 'standing',
        method.test_file,
        method.test_class,
        method.test_method,
        *method.parameters,
    )
