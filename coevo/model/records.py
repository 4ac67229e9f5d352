"""The words of coevo as frozen records and closed enums; rows of tables have modules of their own."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from dataclasses import replace
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from typing import Protocol

from coevo.model.choices import Choice
from coevo.model.column import Column
from coevo.model.column import RepoName


class Walk(Choice):
    PARENTS = (
        'parents',
        'every commit with its first parent; a merge only if somebody changed code in it by hand',
    )
    FIRST_PARENT = 'first-parent', 'the same along the main line alone'
    STATES = 'states', 'the order of `git log`; of a run of commits with equal code the newest'
    WINDOW = 'window', 'each such state with every older one that is at most 12 hours older'
    STANDING = 'standing', 'the head and the latest release, each by itself: nothing changes'


WalkOfRow = Annotated[Walk, Column('The walk that paired the two revisions.')]


class Change(Choice):
    """What became of a method between old and new, blind to comments and formatting."""

    INSERTED = 'inserted', 'the test is new'
    CHANGED = 'changed', 'its own text changed'
    DELETED = 'deleted', 'the test is gone'
    UNCHANGED = 'unchanged', 'nothing that it uses in the test tree changed'
    CONTEXT_CHANGED = (
        'context_changed',
        'its own text is equal, but a fixture, helper or resource of the test tree that it uses changed',
    )


class Cell(Choice):
    """(tests, code): the whole test tree of one revision on the code of another."""

    TOLD_COLD = 'told_cold', 'old tests on old code'
    TNEW_CNEW = 'tnew_cnew', 'new tests on new code'
    TOLD_CNEW = 'told_cnew', 'old tests on new code'
    TNEW_COLD = 'tnew_cold', 'new tests on old code'

    @property
    def tests_are_new(self) -> bool:
        return self in (Cell.TNEW_CNEW, Cell.TNEW_COLD)

    @property
    def code_is_new(self) -> bool:
        return self in (Cell.TNEW_CNEW, Cell.TOLD_CNEW)


class Outcome(Choice):
    """What a test method did in a cell, from the worst to the best, then what is no verdict."""

    COMPILE_ERROR = 'compile_error', 'the test does not compile, or names what the code lacks'
    TIMEOUT = 'timeout', 'it did not end in its time'
    ERROR = 'error', 'it failed by something other than an assertion, or its process ended'
    FAIL = 'fail', 'an assertion failed'
    SKIPPED = 'skipped', 'it was not to be run here'
    PASS = 'pass', 'it passed'
    MISSING = 'missing', 'it was not reported, though it was to be run'
    UNBUILDABLE = 'unbuildable', 'the code itself does not build'
    INFRA = 'infra', 'trouble of ours, such as a full disk; never a verdict'

    @property
    def broken(self) -> bool:
        return self in (Outcome.FAIL, Outcome.ERROR, Outcome.TIMEOUT, Outcome.COMPILE_ERROR)


class Label(Choice):
    UPDATE = 'update', 'the old test breaks on the new code, the updated one passes'
    REFINEMENT = 'refinement', 'the test changed, though the old one still passes on the new code'
    REPAIR = 'repair', 'the old test was broken before the change and by itself, the new one passes'
    CURED_BY_CODE = 'cured_by_code', 'the old test was broken, and the new code alone cures it'
    GENERATION = 'generation', 'a new test that passes on the new code and not on the old'
    REDUNDANT = 'redundant', 'a new test that passes on the old code as well'
    UNAFFECTED = (
        'unaffected',
        'the test did not change and passes at both ends, though a dependency changed',
    )
    BROKEN_BY_CHANGE = 'broken_by_change', 'the test did not change and breaks on the new code'
    FIXTURE_UPDATE = (
        'fixture_update',
        'only a fixture or helper changed, and without that the test breaks on the new code',
    )
    FIXTURE_REFINEMENT = (
        'fixture_refinement',
        'only a fixture or helper changed, and the test passes either way',
    )
    OBSOLETE = 'obsolete', 'a deleted test that breaks on the new code'
    RETIRED = 'retired', 'a deleted test that still passes on the new code'


class Track(Choice):
    """The labels that are tasks."""

    GENERATION = 'generation', 'write the tests of a change'
    UPDATE = 'update', 'adapt tests that a change broke'
    REPAIR = 'repair', 'mend tests that are broken by their own fault'


class Cause(Choice):
    """Why a test is broken in a cell that decides its label."""

    PRODUCTION = 'production', 'the change of the production code'
    BUILD = 'build', 'a library or setting; with those of the other revision the test is not broken'
    FIXTURE = 'fixture', 'a fixture or helper of the test tree'
    ENVIRONMENT = (
        'environment',
        'what the machine or the sandbox withholds, such as network or display',
    )
    TEST = 'test', 'the fault of the test itself'
    SYNTAX = 'syntax', 'the test file does not parse'


class Stage(Choice):
    """Where something left the funnel; each has one unit, named by `UNIT`."""

    WALK = 'walk', 'commits that end no pair'
    PAIR = 'pair', 'pairs that are not run'
    SIEVE = 'sieve', 'test methods that are not run'
    LABEL = 'label', 'test methods that no label fits'
    PUBLISH = 'publish', 'test methods whose licence forbids publication'
    TRACK = 'track', 'test methods that keep their label and are no task'
    STANDING = 'standing', 'test files of a revision that no family takes'
    TASK = 'task', 'tasks that cannot be made'

    @property
    def unit(self) -> str:
        units = {
            Stage.WALK: 'commit',
            Stage.PAIR: 'pair',
            Stage.STANDING: 'test_file',
            Stage.TASK: 'task',
        }
        return units.get(self, 'method')


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


class Revised(Choice):
    """What happened to a production declaration between old and new."""

    INSERTED = 'inserted', 'it is new'
    MODIFIED = 'modified', 'it was changed'
    REMOVED = 'removed', 'it is gone'


class CoupledBy(Choice):
    """Why a changed declaration is a dependency of a test, the strongest first."""

    CALL = 'call', "the test's own text calls or names it"
    HELPER = 'helper', 'what the test uses in the test tree calls or names it'
    EXECUTION = 'execution', 'the test runs it, and other sources call it'


RESOURCE = 'resource'
"""The declaration of a dependency that is a file of the resources."""


class DependencyList(Choice):
    """Which of its dependencies a test is asked about, see `coevo.model.dependency_lists`."""

    CALLED = 'called', 'those that the test itself calls'
    EXECUTED = 'executed', 'all that it executes'


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A changed production declaration that a test refers to or executes.

    Lines are 1-based and inclusive, at new (at old where it was removed). `rank` starts at 1.
    """

    name: Annotated[
        str,
        Column(
            'The qualified name, such as `pkg.Type#method(Parameter,Types)`, or '
            '`pkg.Type` for what lies outside of methods.'
        ),
    ] = ''
    declaration: Annotated[
        str, Column('The declaration as its source writes it; `resource` for a resource file.')
    ]
    file: Annotated[str, Column('The path of its file in the repository.')]
    start_line: Annotated[
        int, Column('Its first line, from 1; at new, or at old if it was removed.', unit='line')
    ]
    end_line: Annotated[int, Column('Its last line, included.', unit='line')]
    revised: Annotated[Revised, Column('What happened to it between old and new.')]
    executed_old: Annotated[
        bool | None,
        Column('Whether the test executes it at the old revision. Null if that is unknown.'),
    ] = None
    executed_new: Annotated[
        bool | None,
        Column('Whether the test executes it at the new revision. Null if that is unknown.'),
    ] = None
    coupling: Annotated[
        float | None,
        Column(
            'How often the test names it; a mention in a helper counts half. Null if that'
            ' is unknown.',
            unit='mentions',
        ),
    ] = None
    coupled_by: Annotated[
        CoupledBy | None, Column('Why it is a dependency. Null in data that does not say.')
    ] = None
    rank: Annotated[int, Column('Its place among the dependencies, from 1.')]

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


class Declared(Protocol):
    """Which test method: its file, declaring class, name and erased parameter types."""

    @property
    def test_file(self) -> str: ...
    @property
    def test_class(self) -> str: ...
    @property
    def test_method(self) -> str: ...
    @property
    def parameters(self) -> tuple[str, ...]: ...


class SourcePlace(Protocol):
    """Where in a walk something left the funnel: a pair, a row of one, or the walk itself."""

    @property
    def repo(self) -> str: ...

    @property
    def walk(self) -> Walk: ...

    @property
    def pair_id(self) -> str | None: ...


class WalkPlace(SourcePlace, Protocol):
    """One that says of which language the walk is."""

    @property
    def language(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Something that left the funnel. `key` names it in the stage's unit, unique in its stage.

    key is a commit (walk), a pair_id (pair), a method_id (sieve, label, publish, track), a standing_id
    (standing) or a task_id (task).
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
            'What left: a commit, `pair_id`, `method_id`, `standing_id` or `task_id`, by the unit.'
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
        Change | None,
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
    def at(
        cls,
        stage: Stage,
        place: WalkPlace,
        key: str,
        reason: str,
        detail: str = '',
        *,
        test_file: str | None = None,
    ) -> Drop:
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
            test_file=test_file,
            language=place.language,
        )

    def of(self, method: Declared, change: Change) -> Drop:
        """The same drop, with the test method that left."""
        return replace(
            self,
            test_file=method.test_file,
            test_class=method.test_class,
            test_method=method.test_method,
            parameters=method.parameters,
            change=change,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryEntry:
    """A library on the class path of a task: Maven coordinates and the checksum of its bytes."""

    coordinates: Annotated[
        str, Column('The library with its version, as the registry of the language writes it.')
    ]
    sha256: Annotated[
        str,
        Column('SHA-256 of its bytes; where it has several files, of their sorted checksums.'),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What it takes to build and run a task's module.

    The commands are written at release, when it is known which tests are a task; mining leaves them empty.
    """

    runtime: Annotated[str, Column('The version of the runtime (JDK, interpreter).')]
    build_tool: Annotated[str, Column('The build tool with its version.')]
    compile_command: Annotated[
        str,
        Column(
            'What builds the start state, at its root, with the network: a line for `sh`, with '
            '`runtime` as the runtime at hand. Plain tools, nothing of coevo.'
        ),
    ] = ''
    test_command: Annotated[
        str,
        Column(
            'What then runs the target tests, by their new names, and fails if one of them fails: a '
            'line for `sh` at the root. Of a suite it runs the whole test file. Build tools may pass '
            'over a test that is not there.'
        ),
    ] = ''
    libraries: Annotated[
        tuple[LibraryEntry, ...], Column('The libraries that the tests run with, in their order.')
    ]
