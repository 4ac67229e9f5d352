"""The rows of a snapshot's tables, and the segment that holds all rows of a pair.

`coevo.model.schema` maps them to Arrow, `coevo.storage.store` keeps them by segment, `packagers.release` writes
them. A column that a later step fills is None until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from coevo.model.quality import Coverage
from coevo.model.quality import CoveredDependency
from coevo.model.quality import ExecutedRow
from coevo.model.quality import Isolated
from coevo.model.quality import MutantRow
from coevo.model.quality import Mutation
from coevo.model.quality import RefactoringRow
from coevo.model.quality import RepairGuard
from coevo.model.quality import ReversalRow
from coevo.model.quality import Sibling
from coevo.model.records import Cause
from coevo.model.records import Cell
from coevo.model.records import Change
from coevo.model.records import Dependency
from coevo.model.records import DependencyList
from coevo.model.records import Drop
from coevo.model.records import Environment
from coevo.model.records import Label
from coevo.model.records import Outcome
from coevo.model.records import TestMethod
from coevo.model.records import Track
from coevo.model.records import Walk


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
    family: str | None = None  # the first of all in the snapshot that share a commit; at release
    source_files: int | None = None  # at the head; None where it cannot be read; filled at release
    source_lines: int | None = None  # of these files, comments and blank lines included
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
    build_changed: bool
    source_changed: bool
    tests_changed: bool
    test_only: bool
    builder_old: str | None  # how it was built: maven-loop, mvn; None if not built
    builder_new: str | None
    build_old: str | None  # 'built', or the reason why not; None if not tried
    build_new: str | None
    runtime: str | None
    runtimes_tried: tuple[str, ...] = ()  # in this order
    suite_old: str | None = None
    suite_new: str | None = None
    refactorings: str | None = None  # found, unknown and why, or not_offered; None if not asked
    license: str | None = None  # SPDX expression at new; filled at release
    # `name version` of what it was measured with, none if not run; with the checksum behind the
    # version those of the packages of a JDK that coevo brought
    tools: tuple[str, ...] = ()
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
    old_is_ancestor: bool | None = None  # as of its pair; None in a snapshot of an older schema
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
    dependency_source: str | None  # runtime, static; None where there are none
    dependency_list: DependencyList | None = (
        None  # which of them focal method, coverage, mutants take
    )
    isolated: Isolated | None = None  # of rows that would have a track, like what follows
    guard: RepairGuard | None = None
    repair_kind: str | None = None
    test_only_refactored: bool | None = None  # None where it is unknown, or was not asked
    source_only_refactored: bool | None = None
    coverage: Coverage | None = None  # of that list
    covered_dependencies: tuple[CoveredDependency, ...] | None = (
        None  # of all; None: not traced at new
    )
    mutation: Mutation | None = None
    smells_old: tuple[str, ...] = ()  # `not_offered` alone where nobody looks for them
    smells_new: tuple[str, ...] = ()
    assertions_lost: int | None = None
    assertions_gained: int | None = None
    kinds: tuple[str, ...] = ()  # of a refinement, after TAM-Eval
    contamination_date: datetime | None = None  # filled at release, like what follows
    contamination_basis: str | None = None
    code_first_seen: datetime | None = None
    duplicate_of: str | None = None
    near_duplicate_of: str | None = None  # the earliest other test that is nearly equal
    task_id: str | None = None
    task_coverage: Coverage | None = None  # of the task's dependencies (TestEvo-Bench, A.4, Eq. 1)
    leak: float | None = None  # of its task


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentRow:
    """The environment of a module at a pair's new revision, kept with the segment for its tasks."""

    pair_id: str
    module: str
    environment: Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRow:
    """What the start state of a task has beside its own file, kept with the segment for its tasks.

    here           tests of its own file that are targets of other tasks, which the start file lacks
    reads_sources  whether a gold test fails in it without main sources beside it
    """

    pair_id: str
    walk: Walk
    track: Track
    test_file: str
    siblings: tuple[Sibling, ...]
    sibling_patch: str
    here: tuple[TestMethod, ...] = ()
    reads_sources: bool


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
    old_is_ancestor: bool | None = None  # as of its pair; None in a snapshot of an older schema
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
    dependency_list: DependencyList | None = (
        None  # which of them prompt, focal method, coverage take
    )
    focal_method: str | None
    environment: Environment | None
    prompt: str | None = None  # what an agent is told (TestEvo-Bench, A.3); None before version 1
    prompt_version: str | None = None
    released: str | None = None  # month of the snapshot that had it first; at release
    coverage_gold: float | None = None  # means over the methods, from 0 to 1; unmeasured ones are 0
    coverage_gold_success: float | None = None  # without those that could not be measured
    code_coverage_gold: float | None = None  # the same over the lines that have code alone
    code_coverage_gold_success: float | None = None
    mutation_score_gold: float | None = None
    mutation_score_gold_success: float | None = None
    siblings: tuple[Sibling, ...] | None = None  # targets of the pair's other tasks
    sibling_patch: str | None = None  # new_rev -> start, in other test files
    leak: float | None = None  # share of gold's text that the start state shows, new in this pair
    nearest: float | None = None  # the same of what stood at old_rev already
    reads_sources: bool | None = None  # whether gold fails without main sources beside it


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnRow:
    table: str
    id: str
    reason: str
    month: str
    reissued: bool = False  # it is there again, or still is with another date


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
    refactorings: tuple[RefactoringRow, ...] = ()
    executed: tuple[ExecutedRow, ...] = ()
    mutants: tuple[MutantRow, ...] = ()
    reversals: tuple[ReversalRow, ...] = ()
    starts: tuple[StartRow, ...] = ()
