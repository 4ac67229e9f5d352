"""The words of coevo as frozen records and closed enums; `coevo.model.tables` has the rows of tables."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Walk(StrEnum):
    PARENTS = 'parents'
    FIRST_PARENT = 'first-parent'
    STATES = 'states'
    WINDOW = 'window'


class Change(StrEnum):
    """What became of a method between old and new, blind to comments and formatting."""

    INSERTED = 'inserted'
    CHANGED = 'changed'
    DELETED = 'deleted'
    UNCHANGED = 'unchanged'
    CONTEXT_CHANGED = 'context_changed'


class Cell(StrEnum):
    """(tests, code): the whole test tree of one revision on the code of another."""

    TOLD_COLD = 'told_cold'
    TNEW_CNEW = 'tnew_cnew'
    TOLD_CNEW = 'told_cnew'
    TNEW_COLD = 'tnew_cold'

    @property
    def tests_are_new(self) -> bool:
        return self in (Cell.TNEW_CNEW, Cell.TNEW_COLD)

    @property
    def code_is_new(self) -> bool:
        return self in (Cell.TNEW_CNEW, Cell.TOLD_CNEW)


class Outcome(StrEnum):
    """What a test method did in a cell, from the worst to the best, then what is no verdict."""

    COMPILE_ERROR = 'compile_error'
    TIMEOUT = 'timeout'
    ERROR = 'error'
    FAIL = 'fail'
    SKIPPED = 'skipped'
    PASS = 'pass'
    MISSING = 'missing'
    UNBUILDABLE = 'unbuildable'
    INFRA = 'infra'

    @property
    def broken(self) -> bool:
        return self in (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT, Outcome.COMPILE_ERROR)


class Label(StrEnum):
    UPDATE = 'update'
    REFINEMENT = 'refinement'
    REPAIR = 'repair'
    CURED_BY_CODE = 'cured_by_code'
    GENERATION = 'generation'
    REDUNDANT = 'redundant'
    UNAFFECTED = 'unaffected'
    BROKEN_BY_CHANGE = 'broken_by_change'
    FIXTURE_UPDATE = 'fixture_update'
    FIXTURE_REFINEMENT = 'fixture_refinement'
    OBSOLETE = 'obsolete'
    RETIRED = 'retired'


class Track(StrEnum):
    """The labels that are tasks."""

    GENERATION = 'generation'
    UPDATE = 'update'
    REPAIR = 'repair'


class Cause(StrEnum):
    """Why a test is broken in a cell that decides its label."""

    PRODUCTION = 'production'
    BUILD = 'build'
    FIXTURE = 'fixture'
    ENVIRONMENT = 'environment'
    TEST = 'test'
    SYNTAX = 'syntax'


class Stage(StrEnum):
    """Where something left the funnel; each has one unit, named by `UNIT`."""

    WALK = 'walk'
    PAIR = 'pair'
    SIEVE = 'sieve'
    LABEL = 'label'
    PUBLISH = 'publish'
    TRACK = 'track'
    TASK = 'task'

    @property
    def unit(self) -> str:
        return {Stage.WALK: 'commit', Stage.PAIR: 'pair', Stage.TASK: 'task'}.get(self, 'method')


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


class Revised(StrEnum):
    """What happened to a production declaration between old and new."""

    INSERTED = 'inserted'
    MODIFIED = 'modified'
    REMOVED = 'removed'


class CoupledBy(StrEnum):
    """Why a changed declaration is a dependency of a test, the strongest first."""

    CALL = 'call'  # the test's own body calls or names it
    HELPER = 'helper'  # what the test uses in the test tree does
    EXECUTION = 'execution'  # it runs, and other sources call it


RESOURCE = 'resource'
"""The declaration of a dependency that is a file of the resources."""


class DependencyList(StrEnum):
    """Which of its dependencies a test is asked about, see `coevo.model.dependency_lists`."""

    CALLED = 'called'  # those coupled by a call
    EXECUTED = 'executed'  # all of them


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A changed production declaration that a test refers to or executes.

    Lines are 1-based and inclusive, at new (at old where it was removed). `rank` starts at 1.

    name        `pkg.Type#method(Parameter,Types)`, or `pkg.Type` for what lies outside of methods
    executed_*  None where that is unknown: the test does not stand or run there, or was not traced
    coupling    how often it is named by the test, by helpers half as much
    """

    name: str = ''
    declaration: str
    file: str
    start_line: int
    end_line: int
    revised: Revised
    executed_old: bool | None = None
    executed_new: bool | None = None
    coupling: float | None = None
    coupled_by: CoupledBy | None = None
    rank: int

    @property
    def is_method(self) -> bool:
        """Whether it is a method or constructor, not the rest of a type."""
        return self.name.endswith(')')

    @property
    def is_resource(self) -> bool:
        """Whether it is a file that is no source."""
        return self.declaration == RESOURCE


class Origin(StrEnum):
    """Where a file comes from: a person here, a program, or another project."""

    WRITTEN = 'written'
    GENERATED = 'generated'
    VENDORED = 'vendored'


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A test method of a pair, as the diff sees it: `old` is None if inserted, `new` if deleted.

    origin  that of its file, at new where it stands there
    """

    change: Change
    old: TestMethod | None
    new: TestMethod | None
    old_source: str | None
    new_source: str | None
    dependencies: tuple[Dependency, ...] = ()
    focal_method: str | None = None
    origin: Origin = Origin.WRITTEN

    @property
    def method(self) -> TestMethod:
        """The identity that names the row: at new, or at old where it was deleted."""
        found = self.new or self.old
        assert found is not None, 'a candidate exists at one end at least'
        return found


def short_hash(*parts: str) -> str:
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
        return short_hash(self.repo, self.language, self.old.rev, self.new.rev)

    @property
    def gap_hours(self) -> float | None:
        """Hours between the two by committer time, negative where clocks disagree."""
        if self.old.committer_date is None or self.new.committer_date is None:
            return None
        seconds = (self.new.committer_date - self.old.committer_date).total_seconds()
        return round(seconds / 3600, 3)


class SourcePlace(Protocol):
    """Where in a walk something left the funnel: a pair, a row of one, or the walk itself."""

    @property
    def repo(self) -> str: ...

    @property
    def walk(self) -> Walk: ...

    @property
    def pair_id(self) -> str | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Something that left the funnel. `key` names it in the stage's unit, unique in its stage.

    key is a commit (walk), a pair_id (pair), a method_id (sieve, label, publish, track) or a task_id (task).
    """

    repo: str
    walk: Walk
    pair_id: str | None
    stage: Stage
    unit: str
    key: str
    reason: str
    detail: str = ''

    @classmethod
    def at(cls, stage: Stage, place: SourcePlace, key: str, reason: str, detail: str = '') -> Drop:
        """A drop in the stage's own unit."""
        return cls(
            repo=place.repo,
            walk=place.walk,
            pair_id=place.pair_id,
            stage=stage,
            unit=stage.unit,
            key=key,
            reason=reason,
            detail=detail,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEntry:
    """A library on the class path of a task: Maven coordinates and the checksum of its bytes."""

    coordinates: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What it takes to build and run a task's module."""

    runtime: str
    build_tool: str
    compile_command: str
    test_command: str
    libraries: tuple[LibraryEntry, ...]
