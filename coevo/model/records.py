"""The records of mining: test methods, commits, pairs, candidates of a pair, and rows that left the
funnel.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol

from coevo.model.column import Column, RepoName
from coevo.model.dependencies import Dependency
from coevo.model.words import MethodChange, Stage, Walk, WalkOfRow

# Rows that left the funnel, with stage and reason.


class MethodIdentity(Protocol):
    """The identity of a test method: its file, declaring class, name and erased parameter types."""

    @property
    def test_file(self) -> str:
        """The path of the test file in the repository."""

    @property
    def test_class(self) -> str:
        """The binary name of the declaring class."""

    @property
    def test_method(self) -> str:
        """The name of the method."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The erased types of the parameters, in order."""


class DropLocation(Protocol):
    """The location of a drop in a walk: a pair, or the walk itself."""

    @property
    def repo(self) -> str:
        """The repository, such as `owner/name`."""

    @property
    def walk(self) -> Walk:
        """The walk."""

    @property
    def pair_id(self) -> str | None:
        """The pair; None for a commit that belongs to no pair."""


class LanguageDropLocation(DropLocation, Protocol):
    """A drop location that also knows the language."""

    @property
    def language(self) -> str:
        """The language of the walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """An item that left the funnel. `key` names it in the stage's unit and is unique within the
    stage.

    The key is a commit (walk), a pair_id (pair), a method_id (filter, label, publish, track), a
    suite_id (single_revision) or a task_id (task).
    """

    repo: RepoName
    walk: WalkOfRow
    pair_id: Annotated[
        str | None, Column('The pair that it belongs to. Null for a commit that ends none.')
    ]
    stage: Annotated[Stage, Column('Where it left the funnel.')]
    unit: Annotated[
        str, Column('What the stage counts: `commit`, `pair`, `method`, `test_file` or `task`.')
    ]
    key: Annotated[
        str,
        Column(
            'What left: a commit, `pair_id`, `method_id`, `suite_id` or `task_id`, by the unit.'
        ),
    ]
    reason: Annotated[
        str,
        Column(
            'The code of the reason, such as `flaky`. Each has a sentence in the list of reasons.'
        ),
    ]
    detail: Annotated[
        str, Column("What the reason leaves open, such as the name of a library; `''` if nothing.")
    ] = ''
    test_file: Annotated[
        str | None,
        Column(
            'The path of the test file in the repository, of a method or task that left. Null for a'
            ' commit or pair, and in what was mined before schema 2.1.'
        ),
    ] = None
    test_class: Annotated[
        str | None,
        Column('The binary name of the class that declares the method. Null if no method left.'),
    ] = None
    test_method: Annotated[
        str | None, Column('The name of the method. Null if no method left.')
    ] = None
    parameters: Annotated[
        tuple[str, ...] | None,
        Column('The erased types of its parameters, in order. Null if no method left.'),
    ] = None
    change: Annotated[
        MethodChange | None,
        Column('What became of the method between old and new. Null if no method left.'),
    ] = None
    language: Annotated[
        str | None,
        Column(
            'The programming language of the walk; a commit can leave the walks of several. Null in'
            ' snapshots of before schema 2.2.'
        ),
    ] = None

    @classmethod
    def make_drop_at_stage(
        cls,
        stage: Stage,
        place: LanguageDropLocation,
        key: str,
        reason: str,
        detail: str = '',
        *,
        test_file: str | None = None,
    ) -> Drop:
        """Return a drop at a stage; its unit is the one that the stage counts.

        Repository, walk, pair and language are those of `place`.
        """
        return cls(
            repo=place.repo,
            walk=place.walk,
            pair_id=place.pair_id,
            stage=stage,
            unit=stage.unit,
            key=key,
            reason=reason,
            detail=detail,
            test_file=test_file,
            language=place.language,
        )

    def with_method(self, method: MethodIdentity, change: MethodChange) -> Drop:
        """Return a copy that also names the dropped test method."""
        return replace(
            self,
            test_file=method.test_file,
            test_class=method.test_class,
            test_method=method.test_method,
            parameters=method.parameters,
            change=change,
        )


# The records of mining: test methods, commits, pairs of commits, and candidates of a pair.


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
