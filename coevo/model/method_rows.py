"""The row type of the table `methods`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.model.column import (
    CodeFirstSeen,
    Column,
    DateBasis,
    FocalMethod,
    IsAncestor,
    LanguageName,
    MethodId,
    ModuleFolder,
    NewRev,
    OldRev,
    Override,
    PairId,
    RepoName,
    SandboxName,
    TestFile,
    TextsWithheld,
)
from coevo.model.dependencies import Dependency, DependencyList
from coevo.model.labels import find_deciding_cells_of_row
from coevo.model.quality import Coverage, CoveredDependency, IsolatedCells, Mutation, RepairGuard
from coevo.model.records import TestMethod
from coevo.model.words import BreakageCause, Cell, Label, MethodChange, Outcome, Track, WalkOfRow


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
        Column(
            'What tells methods of one name apart: the erased simple names of the parameter types, '
            'in order, if the language has overloads; else empty, but for a number if a file '
            'declares the name several times.'
        ),
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
        MethodChange,
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
    t_old_c_old: Annotated[
        Outcome | None,
        Column('The outcome of the old tests on old code. Null if the cell was not run.'),
    ]
    t_old_c_old_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the old tests on old code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    t_old_c_old_passes: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on old code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_old_c_old_runs: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on old code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_old_c_old_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the old tests on old code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    t_new_c_new: Annotated[
        Outcome | None,
        Column('The outcome of the new tests on new code. Null if the cell was not run.'),
    ]
    t_new_c_new_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the new tests on new code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    t_new_c_new_passes: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on new code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_new_c_new_runs: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on new code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_new_c_new_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the new tests on new code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    t_old_c_new: Annotated[
        Outcome | None,
        Column('The outcome of the old tests on new code. Null if the cell was not run.'),
    ]
    t_old_c_new_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the old tests on new code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    t_old_c_new_passes: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on new code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_old_c_new_runs: Annotated[
        int | None,
        Column(
            'How many runs of the old tests on new code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_old_c_new_signature: Annotated[
        str | None,
        Column(
            'What failed and where, with the old tests on new code: exception type and '
            'first frame of the project, or compiler code and symbol. Null if nothing '
            'failed.'
        ),
    ]
    t_new_c_old: Annotated[
        Outcome | None,
        Column('The outcome of the new tests on old code. Null if the cell was not run.'),
    ]
    t_new_c_old_unit: Annotated[
        Outcome | None,
        Column(
            "The outcome of the new tests on old code, by the verdict of the project's own tool, for which one error "
            'breaks the whole unit. Null if the cell was not run.'
        ),
    ]
    t_new_c_old_passes: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on old code passed. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_new_c_old_runs: Annotated[
        int | None,
        Column(
            'How many runs of the new tests on old code there were. Null if the cell was not run.',
            unit='runs',
        ),
    ]
    t_new_c_old_signature: Annotated[
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
        BreakageCause | None,
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
        IsolatedCells | None,
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
        tuple[str, ...],
        Column('Test smells of the old test, sorted, by the names of tsDetect or PyNose.'),
    ] = ()
    smells_new: Annotated[
        tuple[str, ...],
        Column('Test smells of the new test, sorted, by the names of tsDetect or PyNose.'),
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
        tuple[str, ...],
        Column('The kinds of a refinement or extension after TAM-Eval; empty for other labels.'),
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
    texts_withheld: TextsWithheld = False
    leak: Annotated[
        float | None, Column('The `leak` of its task. Null if it has none.', unit='0 to 1')
    ] = None
    strict_askable: Annotated[
        bool | None,
        Column(
            'Whether the gold test itself is a strict success, by the one run of mining, so that '
            'others can be asked to be one. Null if it has no task, or if neither mutants nor '
            'undone changes were run.'
        ),
    ] = None
    measured: Annotated[
        bool | None,
        Column(
            'Whether the gold test was measured: its mutants, undone changes, and its coverage in the '
            'start tree. False if `coevo pipeline measure` has not come to it yet: `mutation`, '
            '`strict_askable`, and where siblings are removed `coverage`, are null then. Null for a '
            'method without a track, and in snapshots from before the column.'
        ),
    ] = None

    @property
    def method(self) -> TestMethod:
        """The test at the new revision."""
        return TestMethod(
            module=self.module,
            test_file=self.test_file,
            test_class=self.test_class,
            test_method=self.test_method,
            parameters=self.parameters,
        )


def list_deciding_cells_of_row(row: MethodRow) -> tuple[Cell, ...]:
    """Return the cells on which the label of a row depends."""
    return find_deciding_cells_of_row(row.change, {cell: getattr(row, cell) for cell in Cell})
