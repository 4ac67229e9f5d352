"""The row type of the table `single_revision`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from coevo.model.column import (
    Column,
    DateBasis,
    LanguageName,
    ModuleFolder,
    NewRev,
    Override,
    PairId,
    RepoName,
    TestFile,
    TextsWithheld,
)
from coevo.model.families import (
    Complexity,
    Defect,
    Family,
    Focus,
    StartBuilder,
    SuiteAdequacy,
    SuiteMutant,
    Unit,
)
from coevo.model.words import WalkOfRow


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutingTest:
    """A test of the revision whose run executed a function."""

    test_file: Annotated[str, Column('The path of its file in the repository.')]
    test_class: Annotated[str, Column('The binary name of its class.')]
    test_method: Annotated[str, Column('Its name.')]
    parameters: Annotated[
        tuple[str, ...], Column('The erased types of its parameters, in order.')
    ] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SingleRevisionRow:
    """A test file at a revision, as one family sees it: what it executes, how stable it is, and the
    possible start state.

    Families select tasks from these rows. Rows without a task give the reason in `drops`.
    """

    suite_id: Annotated[
        str,
        Column('The row: a hash of `pair_id`, path, `family` and `start_builder`.'),
    ]
    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    language: LanguageName
    new_rev: NewRev
    module: ModuleFolder
    test_file: TestFile
    tests: Annotated[int, Column('Tests that the file declares.', unit='tests')]
    passing: Annotated[
        int | None,
        Column('Of these, tests that pass in all runs. Null if they were not run.', unit='tests'),
    ] = None
    unstable: Annotated[
        int | None,
        Column('Of these, tests whose runs disagree. Null if they were not run.', unit='tests'),
    ] = None
    override: Override = None
    runs: Annotated[
        int | None, Column('The fewest runs of a test. Null if they were not run.', unit='runs')
    ] = None
    focal_share: Annotated[
        float | None,
        Column(
            'The share of the class that the file is named after in the methods that its passing '
            'tests execute, by their lines; of a function or package likewise. Null if nothing was '
            'traced.',
            unit='0 to 1',
        ),
    ] = None
    focus: Annotated[
        tuple[Focus, ...],
        Column(
            'The class that the file is named after, or the file of that class; several if it may be '
            'more than one. The function of `function`, all files of the package of `module`.'
        ),
    ] = ()
    adequacy: Annotated[
        SuiteAdequacy | None,
        Column('What the file is worth as a suite. Null if the family does not take it.'),
    ] = None
    mutants: Annotated[
        tuple[SuiteMutant, ...],
        Column('Mutants of the focus, and what the file did with each. Empty if none were made.'),
    ] = ()
    reads_sources: Annotated[
        bool | None,
        Column(
            'Whether a test fails if the production sources do not lie beside it. Null if that '
            'was not asked.'
        ),
    ] = None
    contamination_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which a test of the file may have been public. Null if '
            'that cannot be told, or no family takes it; null is never clean. Filled at release.'
        ),
    ] = None
    contamination_basis: DateBasis = None
    unit_date: Annotated[
        datetime | None,
        Column(
            'The earliest time at which a method of the focus may have been public. Null if '
            'that cannot be told. Filled at release.'
        ),
    ] = None
    task_id: Annotated[
        str | None, Column('The task that it is the gold of. Null if there is none.')
    ] = None
    family: Annotated[
        Family | None,
        Column('The family that looks at it. Null in data of a schema before 2.3: `class`.'),
    ] = None
    start_builder: Annotated[
        StartBuilder | None,
        Column(
            'How the start state of a task is made of it. Null if the family does not take the file, '
            'whatever its start were, and in data of a schema before 2.3: `absent`.'
        ),
    ] = None
    start_adequacy: Annotated[
        SuiteAdequacy | None,
        Column(
            'What the file is worth at the start, as `adequacy`. Null if it is absent there, or if '
            'nothing was found out.'
        ),
    ] = None
    start_rev: Annotated[
        str | None,
        Column('The older commit that the test file at the start is of. Null if it is of none.'),
    ] = None
    defect: Annotated[
        Defect | None,
        Column('What is wrong with the file at the start. Null if nothing was put in.'),
    ] = None
    start_patch: Annotated[
        str | None,
        Column(
            'A unified diff from the file at the start to the file, empty if they are the same. Null '
            'if there is no start state, and in data of a schema before 2.3.'
        ),
    ] = None
    unit: Unit = None
    complexity: Complexity = None
    executing_tests: Annotated[
        tuple[ExecutingTest, ...] | None,
        Column(
            'The tests of the revision, of whatever file whose tests all pass, that execute the '
            'function. Null but for `function`.'
        ),
    ] = None
    texts_withheld: TextsWithheld = False
