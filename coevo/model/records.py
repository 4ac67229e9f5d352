"""The records of mining: test methods, commits, pairs of commits, and candidates of a pair."""

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
    """A test method at the place of its declaration.

    module      folder of its module, '.' for the root
    test_file   path in the repository, with forward slashes
    test_class  binary name of the declaring class, `pkg.Outer$Inner`
    parameters  what tells members of one name apart: in Java the erased simple names of the parameter
                types, in order; elsewhere empty, but for functions that a later one of their name
                replaces, which have a number
    """

    __test__ = False  # tells pytest that this is not a test class

    module: str
    test_file: str
    test_class: str
    test_method: str
    parameters: tuple[str, ...] = ()


class FileOrigin(StrEnum):
    """The origin of a test file: written by hand, generated, copied, or at an unusual place.

    VENDORED  it is copied from another project
    SOURCES   it is among the main sources of a module of tests, which publishes it
    LINKED    it is a symbolic link at one revision, or is reached through a link
    """

    WRITTEN = 'written'
    GENERATED = 'generated'
    VENDORED = 'vendored'
    SOURCES = 'sources'
    LINKED = 'linked'


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A test method of a pair, as the diff sees it: `old` is None if inserted, `new` if deleted.

    old_source           text of the method alone at old; None if it is inserted, or if a single
                         revision is studied
    new_source           the same at new; None if it is deleted, or if a single revision is studied
    origin               the origin of its file at the new revision, or at the old one if deleted
    surroundings_differ  whether the test trees of the revisions differ in anything beside its own
                         body, whether or not it is known to use that
    """

    change: MethodChange
    old: TestMethod | None
    new: TestMethod | None
    old_source: str | None
    new_source: str | None
    dependencies: tuple[Dependency, ...] = ()
    focal_method: str | None = None
    origin: FileOrigin = FileOrigin.WRITTEN
    surroundings_differ: bool = False

    @property
    def method(self) -> TestMethod:
        """The test method at the new revision, or at the old one if it was deleted."""
        method = self.new or self.old
        assert method is not None, 'a candidate exists at one end at least'
        return method


def compute_short_hash(*parts: str) -> str:
    """Return a stable id of 16 hexadecimal digits: the start of the SHA-256 of the parts."""
    return hashlib.sha256('\0'.join(parts).encode(errors='surrogateescape')).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """A commit's metadata; dates are UTC, or None if Git's are unparsable or out of range."""

    rev: str
    parents: tuple[str, ...]
    author_date: datetime | None
    committer_date: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two revisions that are adjacent under a walk.

    between  states that lie between the two, newest first (walk `window`)
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
        """The id of the pair, the same under every walk.

        (pair_id, walk) is the key of the table `pairs`.
        """
        return compute_short_hash(self.repo, self.language, self.old.rev, self.new.rev)

    @property
    def gap_hours(self) -> float | None:
        """Hours between the two by committer time, negative if clocks disagree; None if undated."""
        if self.old.committer_date is None or self.new.committer_date is None:
            return None
        seconds = (self.new.committer_date - self.old.committer_date).total_seconds()
        return round(seconds / 3600, 3)


def compute_candidate_id(pair: Pair, candidate: Candidate) -> str:
    """Return the stable id of a test method in a pair, the same under every walk."""
    return compute_method_id(pair.pair_id, candidate.change, candidate.method)


def compute_method_id(pair_id: str, change: MethodChange, method: MethodIdentity) -> str:
    """Return the stable id of a test method in a pair, from its identity.

    A deleted method never shares its id with a method that took over its name.
    """
    return compute_short_hash(
        pair_id,
        'deleted' if change is MethodChange.DELETED else 'standing',
        method.test_file,
        method.test_class,
        method.test_method,
        *method.parameters,
    )
