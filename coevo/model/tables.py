"""The rows of a snapshot's tables, and the segment that holds all rows of a pair.

`coevo.model.schema` maps them to Arrow, `coevo.storage.store` keeps them by segment, `packagers.release` writes
them. A column that a later step fills is None until then.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.model.column import CodeFirstSeen
from coevo.model.column import Column
from coevo.model.column import DateBasis
from coevo.model.column import FocalMethod
from coevo.model.column import IsAncestor
from coevo.model.column import LanguageName
from coevo.model.column import Licence
from coevo.model.column import MethodId
from coevo.model.column import ModuleFolder
from coevo.model.column import NewAuthorDate
from coevo.model.column import NewCommitterDate
from coevo.model.column import NewRev
from coevo.model.column import OldAuthorDate
from coevo.model.column import OldCommitterDate
from coevo.model.column import OldRev
from coevo.model.column import Override
from coevo.model.column import PairId
from coevo.model.column import RepoName
from coevo.model.column import SandboxName
from coevo.model.column import TestFile
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
from coevo.model.records import WalkOfRow


@dataclass(frozen=True, slots=True, kw_only=True)
class RepositoryRow:
    repo: RepoName
    url: Annotated[
        str | None, Column('Where the repository was cloned from. Null for a local one.')
    ]
    github_id: Annotated[
        int | None,
        Column(
            'The number of the repository on GitHub, which survives renames. Null if it '
            'is not known.'
        ),
    ] = None
    language: LanguageName
    walk: Annotated[Walk, Column('The walk that visited the commits.')]
    ref: Annotated[str, Column('What the walk started from, such as `HEAD` or a tag.')]
    head: Annotated[str, Column('The hash of the newest commit of the walk.')]
    cutoff: Annotated[
        datetime | None,
        Column(
            'The time after which no commit counts. If none was given, the date of the newest visited commit. Null if that cannot be read.'
        ),
    ]
    commits_visited: Annotated[int, Column('How many commits the walk visited.', unit='commits')]
    commits_kept: Annotated[int, Column('How many of them end a pair.', unit='commits')]
    pairs_found: Annotated[
        int,
        Column(
            'How many pairs the walk found. More than `commits_kept` under the walk `window` only.',
            unit='pairs',
        ),
    ]
    license: Annotated[
        str | None, Column('The SPDX expression of the licence at the head. Null if it is unknown.')
    ]
    family: Annotated[
        str | None,
        Column(
            'The first repository of the snapshot that shares a commit with this one, or '
            'itself. Forks have one family. Null before the release.'
        ),
    ] = None
    source_files: Annotated[
        int | None,
        Column(
            'Source files of the language at the head. Null if they cannot be read. '
            'Filled at release.',
            unit='files',
        ),
    ] = None
    source_lines: Annotated[
        int | None,
        Column(
            'Lines of these files, with comments and blank lines. Null if they cannot be read.',
            unit='lines',
        ),
    ] = None
    sandbox: SandboxName
    engine_version: Annotated[
        int,
        Column(
            'The version of the rules that decide verdicts. It rises only if verdicts may change.'
        ),
    ]
    profile: Annotated[str, Column('The named set of thresholds, such as `default` or `testevo`.')]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairRow:
    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    language: LanguageName
    old_rev: OldRev
    new_rev: NewRev
    old_author_date: OldAuthorDate
    old_committer_date: OldCommitterDate
    new_author_date: NewAuthorDate
    new_committer_date: NewCommitterDate
    gap_hours: Annotated[
        float | None,
        Column(
            'Time between the two commits by committer date. Negative if clocks disagree,'
            ' null if a date is missing.',
            unit='hours',
        ),
    ]
    old_is_ancestor: Annotated[
        bool, Column('Whether the old commit is an ancestor of the new one.')
    ]
    build_changed: Annotated[
        bool,
        Column(
            'Whether a build file differs: one that says how the project is built and on '
            'which libraries it depends.'
        ),
    ]
    source_changed: Annotated[bool, Column('Whether production code or its resources differ.')]
    tests_changed: Annotated[bool, Column('Whether test code or its resources differ.')]
    test_only: Annotated[bool, Column('Whether tests differ and production code does not.')]
    builder_old: Annotated[
        str | None,
        Column(
            'How the old revision was built, by the name of the builder. Null if it was not built.'
        ),
    ]
    builder_new: Annotated[str | None, Column('The same of the new revision.')]
    build_old: Annotated[
        str | None,
        Column('`built`, or the first reason why something was not. Null if no build was tried.'),
    ]
    build_new: Annotated[str | None, Column('The same of the new revision.')]
    runtime: Annotated[
        str | None,
        Column(
            'The version of the runtime (JDK, interpreter) that built and ran both ends. '
            'Null if nothing was run.'
        ),
    ]
    runtimes_tried: Annotated[
        tuple[str, ...], Column('The runtimes that were tried, in this order.')
    ] = ()
    runtime_missing: Annotated[
        str | None,
        Column(
            'The release of the runtime (JDK, interpreter) that was to be tried next and could not be'
            ' had. Null if none was missing, and in what was mined before schema 2.1.'
        ),
    ] = None
    suite_old: Annotated[
        str | None,
        Column(
            'Whether all tests of the old revision pass on their own code: `pass`, or why not. Null if the profile does not ask.'
        ),
    ] = None
    suite_new: Annotated[str | None, Column('The same of the new revision.')] = None
    refactorings: Annotated[
        str | None,
        Column(
            '`found`, `unknown` with the reason, or `not_offered` if the language has no '
            'such tool. Null if it was not asked.'
        ),
    ] = None
    license: Annotated[
        str | None,
        Column(
            'The SPDX expression of the licence at the new revision. Null if it is '
            'unknown. Filled at release.'
        ),
    ] = None
    # `name version` of what it was measured with, none if not run; with the checksum behind the
    # version those of the packages of a JDK that coevo brought
    tools: Annotated[
        tuple[str, ...],
        Column(
            'The tools that measured the pair, each as `name version`; empty if nothing was run.'
        ),
    ] = ()
    candidates: Annotated[int, Column('Test methods that entered the sieve.', unit='methods')]
    sandbox: SandboxName


@dataclass(frozen=True, slots=True, kw_only=True)
class CellRow:
    """One run of one test method in one cell."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    method_id: MethodId
    cell: Annotated[Cell, Column('Whose tests ran on whose code.')]
    repeat: Annotated[int, Column('The number of this run in its cell, from 0.')]
    order: Annotated[
        str,
        Column(
            'In which order the tests of the run stood: `given`, `reversed`, `alone` (one'
            ' method per process), or `compile` for a verdict of the compiler.'
        ),
    ]
    outcome: Annotated[
        Outcome, Column('What the method did, if it is compiled with what it needs alone.')
    ]
    unit_outcome: Annotated[
        Outcome,
        Column(
            "What the method did by the verdict of the project's own tool, for which one "
            'error breaks the whole unit.'
        ),
    ]
    signature: Annotated[
        str | None,
        Column(
            'What failed and where: the exception type with the first frame of the '
            "project, or the compiler's code and symbol. Null if nothing failed."
        ),
    ]
    override: Override


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodRow:
    """A labelled test method of a pair under a walk; (method_id, walk) is the key."""

    method_id: MethodId
    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    language: LanguageName
    old_rev: OldRev
    new_rev: NewRev
    old_is_ancestor: IsAncestor = None
    module: ModuleFolder
    test_file: TestFile
    test_class: Annotated[
        str,
        Column(
            'The qualified container that declares the test, such as `pkg.Outer$Inner`; '
            "`''` if none."
        ),
    ]
    test_method: Annotated[str, Column('The name of the test method or function.')]
    parameters: Annotated[
        tuple[str, ...],
        Column('The erased simple names of the parameter types, in order; empty if none.'),
    ]
    old_module: Annotated[
        str | None,
        Column(
            'The module at the old revision, of a test that moved or was renamed. Null for any other test.'
        ),
    ]
    old_test_file: Annotated[
        str | None,
        Column(
            'The test file at the old revision, of a test that moved or was renamed. Null for any other test.'
        ),
    ]
    old_test_class: Annotated[
        str | None,
        Column(
            'The container at the old revision, of a test that moved or was renamed. Null for any other test.'
        ),
    ]
    old_test_method: Annotated[
        str | None,
        Column(
            'The name at the old revision, of a test that moved or was renamed. Null for any other test.'
        ),
    ]
    change: Annotated[
        Change,
        Column('What became of the method between old and new, blind to comments and formatting.'),
    ]
    label: Annotated[
        Label | None,
        Column(
            'What the cells say of the method. Null if only the verdict of the whole unit'
            ' gives a label.'
        ),
    ]
    track: Annotated[
        Track | None,
        Column('The label, if the method is a target of that kind of task. Null if it is not.'),
    ]
    label_by_module: Annotated[
        Label | None,
        Column(
            "The label by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. For comparison with published tasks; null if it gives none.'
        ),
    ]
    track_by_module: Annotated[
        Track | None,
        Column(
            'The track that follows from `label_by_module`. No task is made from it. Null if there is none.'
        ),
    ]
    old_source: Annotated[
        str | None, Column('The text of the method at the old revision. Null if it was inserted.')
    ]
    new_source: Annotated[
        str | None, Column('The text of the method at the new revision. Null if it was deleted.')
    ]
    told_cold: Annotated[
        Outcome | None,
        Column('The outcome of the old tests on old code. Null if the cell was not run.'),
    ]
    told_cold_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the old tests on old code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    told_cold_passes: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on old code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    told_cold_runs: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on old code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    told_cold_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the old tests on old code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    tnew_cnew: Annotated[
        Outcome | None,
        Column('The outcome of the new tests on new code. Null if the cell was not run.'),
    ]
    tnew_cnew_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the new tests on new code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    tnew_cnew_passes: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on new code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    tnew_cnew_runs: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on new code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    tnew_cnew_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the new tests on new code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    told_cnew: Annotated[
        Outcome | None,
        Column('The outcome of the old tests on new code. Null if the cell was not run.'),
    ]
    told_cnew_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the old tests on new code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    told_cnew_passes: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on new code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    told_cnew_runs: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on new code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    told_cnew_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the old tests on new code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    tnew_cold: Annotated[
        Outcome | None,
        Column('The outcome of the new tests on old code. Null if the cell was not run.'),
    ]
    tnew_cold_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the new tests on old code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    tnew_cold_passes: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on old code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    tnew_cold_runs: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on old code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    tnew_cold_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the new tests on old code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    flake_upper_95: Annotated[
        float | None,
        Column(
            'Upper 95 % bound of the flake rate, from the fewest runs of a cell that decides the label: `1 - 0.05^(1/runs)`, so 0.632 for three. Null if the compiler decided all.',
            unit='0 to 1',
        ),
    ]
    cause: Annotated[
        Cause | None,
        Column(
            'Why the test is broken in the cell that decides its label. Null if no such '
            'cell is broken.'
        ),
    ]
    override: Override
    sandbox: SandboxName
    focal_method: FocalMethod
    dependencies: Annotated[
        tuple[Dependency, ...],
        Column(
            'The changed production declarations that the test refers to or executes, best first.'
        ),
    ]
    dependency_source: Annotated[
        str | None,
        Column(
            'How the dependencies are known: `runtime` (from a trace) or `static` (from '
            'the text). Null if there are none.'
        ),
    ]
    dependency_list: Annotated[
        DependencyList | None,
        Column(
            'Which of the dependencies the focal method, coverage and mutants go by. Null'
            ' in data that does not say.'
        ),
    ] = None
    isolated: Annotated[
        Isolated | None,
        Column(
            'What the cells say if only the tests of the task are swapped, not the whole '
            'test tree. Null for methods that no track was considered for.'
        ),
    ] = None
    guard: Annotated[
        RepairGuard | None,
        Column('What speaks for the fault of the test itself. Null for what is no repair.'),
    ] = None
    repair_kind: Annotated[
        str | None,
        Column(
            'The kind of a broken test: `syntax` (it does not parse) or `execution` (it '
            'does not compile or run). Null for what is no repair.'
        ),
    ] = None
    test_only_refactored: Annotated[
        bool | None,
        Column(
            'Whether the test was refactored and nothing more. Null if it is unknown or '
            'was not asked.'
        ),
    ] = None
    source_only_refactored: Annotated[
        bool | None,
        Column(
            'Whether all changed dependencies were refactored and nothing more. Null if '
            'it is unknown or was not asked.'
        ),
    ] = None
    coverage: Annotated[
        Coverage | None,
        Column(
            'What the new test covers of the dependencies in `dependency_list`. Null if '
            'it was not traced at new.'
        ),
    ] = None
    covered_dependencies: Annotated[
        tuple[CoveredDependency, ...] | None,
        Column(
            'The same for each changed method by itself, of all dependencies. Null if it '
            'was not traced at new.'
        ),
    ] = None
    mutation: Annotated[
        Mutation | None,
        Column('How the mutants of the new code fared under the test. Null if they were not made.'),
    ] = None
    smells_old: Annotated[
        tuple[str, ...], Column('Test smells of the old test, by the names of tsDetect, sorted.')
    ] = ()
    smells_new: Annotated[
        tuple[str, ...], Column('Test smells of the new test, by the names of tsDetect, sorted.')
    ] = ()
    assertions_lost: Annotated[
        int | None,
        Column(
            'Assertions of the old test that the new one does not have. Null if one of '
            'the two does not exist.',
            unit='assertions',
        ),
    ] = None
    assertions_gained: Annotated[
        int | None,
        Column(
            'Assertions of the new test that the old one does not have. Null if one of '
            'the two does not exist.',
            unit='assertions',
        ),
    ] = None
    kinds: Annotated[
        tuple[str, ...], Column('The kinds of a refinement after TAM-Eval; empty for other labels.')
    ] = ()
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which the answer may have been public. Null if that '
            'cannot be told; null is never clean.'
        ),
    ] = None
    contamination_basis: DateBasis = None
    code_first_seen: CodeFirstSeen = None
    duplicate_of: Annotated[
        str | None,
        Column(
            'The `method_id` of the earliest row with the same edit. Null if this is the earliest.'
        ),
    ] = None
    near_duplicate_of: Annotated[
        str | None,
        Column(
            'The `method_id` of the earliest other test that is nearly equal. Null if '
            'there is none.'
        ),
    ] = None
    task_id: Annotated[
        str | None, Column('The task that the method is a target of. Null if there is none.')
    ] = None
    task_coverage: Annotated[
        Coverage | None,
        Column(
            'What the new test covers of the dependencies of its task, as TestEvo-Bench '
            'counts (A.4, Eq. 1). Null if it has no task or was not traced.'
        ),
    ] = None
    leak: Annotated[
        float | None, Column('The `leak` of its task. Null if it has none.', unit='0 to 1')
    ] = None


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
    task_id: Annotated[
        str,
        Column('The task: a hash of repository, language, both revisions, track and test file.'),
    ]
    also_at: Annotated[tuple[str, ...], Column('The `pair_id` of other pairs with the same edit.')]
    pair_id: PairId
    repo: RepoName
    url: Annotated[
        str | None, Column('Where the repository was cloned from. Null for a local one.')
    ]
    license: Licence
    language: LanguageName
    track: Annotated[Track, Column('What is to be done.')]
    walk: Annotated[
        Walk,
        Column(
            'The walk whose row this is: the first of `parents`, `first-parent`, `states`'
            ' and `window` that has the task.'
        ),
    ]
    old_rev: OldRev
    new_rev: NewRev
    old_is_ancestor: IsAncestor = None
    old_author_date: OldAuthorDate
    old_committer_date: OldCommitterDate
    new_author_date: NewAuthorDate
    new_committer_date: NewCommitterDate
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which the answer may have been public. Null if that '
            'cannot be told; null is never clean. Of all target methods the earliest; '
            'null if that of one is null.'
        ),
    ]
    contamination_basis: DateBasis
    code_first_seen: CodeFirstSeen
    module: ModuleFolder
    test_file: TestFile
    test_methods: Annotated[
        tuple[str, ...],
        Column('The target methods, each as `Container#method`, in the order of `method_ids`.'),
    ]
    method_ids: Annotated[tuple[str, ...], Column('The `method_id` of each target.')]
    start_file_sha256: Annotated[
        str | None,
        Column(
            'SHA-256 of the test file at the start. Null if the file does not exist at the start.'
        ),
    ]
    test_patch: Annotated[
        str,
        Column(
            'The gold patch: a unified diff from the start state to the new revision, of '
            'the test file alone.'
        ),
    ]
    source_patch: Annotated[
        str,
        Column(
            'The change of the production code from old to new, as a unified diff. Build '
            'files are no part of it.'
        ),
    ]
    dependencies: Annotated[
        tuple[Dependency, ...],
        Column('The changed production declarations that the targets depend on, best first.'),
    ]
    dependency_list: Annotated[
        DependencyList | None,
        Column(
            'Which of them the prompt, the focal method and coverage go by. Null in data '
            'that does not say.'
        ),
    ] = None
    focal_method: FocalMethod
    environment: Annotated[
        Environment | None,
        Column('What it takes to build and run the module. Null if it is not known.'),
    ]
    prompt: Annotated[
        str | None,
        Column(
            'What an agent is told, in the words of TestEvo-Bench (A.3). Null in data '
            'that has none.'
        ),
    ] = None
    prompt_version: Annotated[
        str | None, Column('The version of that text. Null if there is no prompt.')
    ] = None
    released: Annotated[
        str | None,
        Column(
            'The month of the snapshot that had the task first, as `YYYY-MM`. Null before the release.'
        ),
    ] = None
    coverage_gold: Annotated[
        float | None,
        Column(
            'Line coverage of the gold tests, the mean over the targets; an unmeasured '
            'one counts as 0. Null if none was measured.',
            unit='0 to 1',
        ),
    ] = None
    coverage_gold_success: Annotated[
        float | None, Column('The same over the measured targets alone.', unit='0 to 1')
    ] = None
    code_coverage_gold: Annotated[
        float | None,
        Column('The same as `coverage_gold`, over the lines that hold code.', unit='0 to 1'),
    ] = None
    code_coverage_gold_success: Annotated[
        float | None, Column('The same over the measured targets alone.', unit='0 to 1')
    ] = None
    mutation_score_gold: Annotated[
        float | None,
        Column(
            'The share of mutants that the gold tests kill, the mean over the targets; an'
            ' unmeasured one counts as 0. Null if none was measured.',
            unit='0 to 1',
        ),
    ] = None
    mutation_score_gold_success: Annotated[
        float | None, Column('The same over the measured targets alone.', unit='0 to 1')
    ] = None
    siblings: Annotated[
        tuple[Sibling, ...] | None,
        Column(
            "Targets of the pair's other tasks, which the start state does not show. Null"
            ' in data that does not say.'
        ),
    ] = None
    sibling_patch: Annotated[
        str | None,
        Column(
            'A unified diff from the new revision to the start state, of the other test '
            'files. Null in data that does not say.'
        ),
    ] = None
    leak: Annotated[
        float | None,
        Column(
            'The share of the gold text that the start state still shows, in what this '
            'pair added. Null in data that does not say.',
            unit='0 to 1',
        ),
    ] = None
    nearest: Annotated[
        float | None, Column('The same in what stood at the old revision already.', unit='0 to 1')
    ] = None
    reads_sources: Annotated[
        bool | None,
        Column(
            'Whether the gold test fails if the production sources do not lie beside it. '
            'Null if that was not asked.'
        ),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WithdrawnRow:
    table: Annotated[str, Column('The table that the row stood in.')]
    id: Annotated[str, Column('The key of the row, such as a `task_id`.')]
    reason: Annotated[str, Column('Why it was withdrawn.')]
    month: Annotated[str, Column('The month whose snapshot withdrew it, as `YYYY-MM`.')]
    reissued: Annotated[
        bool, Column('Whether it is there again, or is still there with another date.')
    ] = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingRow:
    """What a step of a pair cost; outside the checksummed core."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    step: Annotated[
        str, Column('What took the time, such as `diff`, `build`, `compile` or `run_alone`.')
    ]
    cpu_seconds: Annotated[float, Column('Processor time of the step.', unit='seconds')]
    wall_seconds: Annotated[float, Column('Elapsed time of the step.', unit='seconds')]
    count: Annotated[int, Column('How often the step was taken.', unit='times')]


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
