"""The words of coevo as frozen records and closed enums; every table's row is one of them.

The rows at the end of the module are what a snapshot holds: `coevo.schema` maps them to Arrow,
`coevo.store` keeps them by segment, `packagers.release` writes them. A column that a later step
fills is None until then.
"""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """A changed production declaration that a test refers to or executes.

    Lines are 1-based and inclusive, at new (at old where it was removed). `rank` starts at 1.
    `executed_*` are None until the runtime map exists.
    """

    declaration: str
    file: str
    start_line: int
    end_line: int
    revised: Revised
    executed_old: bool | None = None
    executed_new: bool | None = None
    coupling: float | None = None
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A test method of a pair, as the diff sees it: `old` is None if inserted, `new` if deleted."""

    change: Change
    old: TestMethod | None
    new: TestMethod | None
    old_source: str | None
    new_source: str | None
    dependencies: tuple[Dependency, ...] = ()
    focal_method: str | None = None

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
    walk: Walk
    old: Commit
    new: Commit
    old_is_ancestor: bool
    between: tuple[str, ...] = ()
    language: str = 'java'

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


# -- rows of the snapshot's tables -----------------------------------------------------------------


class Place(Protocol):
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

    key is a commit (walk), a pair_id (pair), a method_id (sieve, label) or a task_id (task).
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
    def at(cls, stage: Stage, place: Place, key: str, reason: str, detail: str = '') -> Drop:
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
class RepositoryRow:
    repo: str
    url: str | None
    github_id: int | None = None
    language: str
    walk: Walk
    ref: str
    head: str
    cutoff: datetime | None
    commits_visited: int
    commits_kept: int  # those that end a pair
    pairs_found: int  # more than these under the walk `window` alone
    license: str | None
    sandbox: str
    engine_version: int
    profile: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    repo: str
    walk: Walk
    pair_id: str
    language: str
    old_rev: str
    new_rev: str
    old_author_date: datetime | None
    old_committer_date: datetime | None
    new_author_date: datetime | None
    new_committer_date: datetime | None
    gap_hours: float | None
    old_is_ancestor: bool
    pom_changed: bool
    source_changed: bool
    tests_changed: bool
    test_only: bool
    builder_old: str | None  # how it was built: maven-loop, mvn; None if not built
    builder_new: str | None
    build_old: str | None  # 'built', or the reason why not; None if not tried
    build_new: str | None
    jdk: str | None
    jdks_tried: tuple[str, ...] = ()  # in this order
    suite_old: str | None = None
    suite_new: str | None = None
    candidates: int  # test methods that entered the sieve
    sandbox: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One run of one test method in one cell."""

    repo: str
    walk: Walk
    pair_id: str
    method_id: str
    cell: Cell
    repeat: int  # from 0
    order: str  # given, reversed, alone; compile for a verdict of the compiler
    outcome: Outcome
    unit_outcome: Outcome
    signature: str | None
    override: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """A labelled test method of a pair under a walk; (method_id, walk) is the key."""

    method_id: str
    repo: str
    walk: Walk
    pair_id: str
    language: str
    old_rev: str
    new_rev: str
    module: str
    test_file: str
    test_class: str
    test_method: str
    parameters: tuple[str, ...]
    old_module: str | None
    old_test_file: str | None
    old_test_class: str | None
    old_test_method: str | None
    change: Change
    label: Label | None
    track: Track | None
    label_by_module: Label | None
    track_by_module: Track | None
    old_source: str | None
    new_source: str | None
    told_cold: Outcome | None
    told_cold_unit: Outcome | None
    told_cold_passes: int | None
    told_cold_runs: int | None
    told_cold_signature: str | None
    tnew_cnew: Outcome | None
    tnew_cnew_unit: Outcome | None
    tnew_cnew_passes: int | None
    tnew_cnew_runs: int | None
    tnew_cnew_signature: str | None
    told_cnew: Outcome | None
    told_cnew_unit: Outcome | None
    told_cnew_passes: int | None
    told_cnew_runs: int | None
    told_cnew_signature: str | None
    tnew_cold: Outcome | None
    tnew_cold_unit: Outcome | None
    tnew_cold_passes: int | None
    tnew_cold_runs: int | None
    tnew_cold_signature: str | None
    flake_upper_95: float | None  # upper bound of the flake rate over the runs of deciding cells
    cause: Cause | None
    override: str | None
    sandbox: str
    focal_method: str | None
    dependencies: tuple[Dependency, ...]
    dependency_source: str | None
    contamination_date: datetime | None = None  # filled at release, like what follows
    contamination_basis: str | None = None
    code_first_seen: datetime | None = None
    duplicate_of: str | None = None
    task_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassPathEntry:
    """A library on the class path of a task: Maven coordinates and the checksum of its bytes."""

    coordinates: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """What it takes to build and run a task's module."""

    jdk: str
    build_tool: str
    compile_command: str
    test_command: str
    class_path: tuple[ClassPathEntry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentRow:
    """The environment of a module at a pair's new revision, kept with the segment for its tasks."""

    pair_id: str
    module: str
    environment: Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    task_id: str
    also_at: tuple[str, ...]
    pair_id: str
    repo: str
    url: str | None
    license: str | None
    language: str
    track: Track
    walk: Walk
    old_rev: str
    new_rev: str
    old_author_date: datetime | None
    old_committer_date: datetime | None
    new_author_date: datetime | None
    new_committer_date: datetime | None
    contamination_date: datetime | None
    contamination_basis: str | None
    code_first_seen: datetime | None
    module: str
    test_file: str
    test_methods: tuple[str, ...]  # Class#method
    method_ids: tuple[str, ...]
    start_file_sha256: str | None  # None where the file is absent at the start
    test_patch: str
    source_patch: str
    dependencies: tuple[Dependency, ...]
    focal_method: str | None
    environment: Environment | None
    prompt_version: str | None = None
    coverage_gold: float | None = None
    mutation_score_gold: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnRow:
    table: str
    id: str
    reason: str
    month: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingRow:
    """What a step of a pair cost; outside the checksummed core."""

    repo: str
    walk: Walk
    pair_id: str
    step: str  # diff, build, compile, run
    cpu_seconds: float
    wall_seconds: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """All that mining one pair gave: the store's unit of writing."""

    key: str
    pair: PairRow
    methods: tuple[MethodRow, ...]
    cells: tuple[CellRow, ...]
    drops: tuple[Drop, ...]
    environments: tuple[EnvironmentRow, ...]
    timings: tuple[TimingRow, ...]
