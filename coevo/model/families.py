"""Families of tasks: what a task asks for, about which code, from which revision; what
`maintenance` and `implement` add.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from coevo.model.column import Choice, Column
from coevo.model.words import Label, Outcome

# Larger suites are refused, since each test needs processes of its own.
MOST_TESTS = 200


class Family(Choice):
    """The kind of question that a task asks."""

    COEVOLUTION = 'coevolution', 'tests of one track of a change (TestEvo-Bench)'
    CLASS = 'class', 'the tests of a class, where there are none yet (Classes2Test, AgoneTest)'
    FILE = (
        'file',
        'the test file of a source file: written, completed, repaired, updated (TAM-Eval)',
    )
    FUNCTION = 'function', 'the tests of one function that branches often (ULT, PLT)'
    MODULE = (
        'module',
        'the tests of a package of several files that call each other (MultiFileTest)',
    )
    MAINTENANCE = (
        'maintenance',
        'the whole test file of a change: what it breaks is updated, the rest stays',
    )
    IMPLEMENT = 'implement', 'the code of a change, of which the new tests are given'


UNIT_FAMILIES = (Family.FUNCTION, Family.MODULE)
"""Families whose tasks start from a unit of code and ask for the test file about it."""

SINGLE_REVISION_FAMILIES = (Family.CLASS, Family.FILE, *UNIT_FAMILIES)
"""Families whose tasks are made from the test files of a single revision."""

RELEASED_FAMILIES = (Family.MAINTENANCE, Family.IMPLEMENT)
"""Families whose tasks are derived from labels when a snapshot is released."""

SUITE_FAMILIES = (*SINGLE_REVISION_FAMILIES, Family.MAINTENANCE)
"""Families that ask for suites. `implement` is graded as a whole, too, but asks for code."""


class Scenario(Choice):
    """The kind of work that a task asks for on a suite."""

    CREATE = 'create', 'write it, or what it lacks'
    REPAIR = 'repair', 'mend a defect of its own'
    UPDATE = 'update', 'make it fit code that has changed'
    IMPLEMENT = 'implement', 'write the code that makes it pass'


class StartBuilder(Choice):
    """The way in which the start state is derived from the new revision."""

    REVERTED = 'reverted', 'the targets are as at the old revision'
    REMOVED = 'removed', 'the targets are removed with what they alone use'
    ABSENT = 'absent', 'the test file is absent'
    AS_IS = 'as_is', 'the test file is as it is, and may be added to'
    INJECTED = 'injected', 'the test file has a defect that was put in'
    OLDER = 'older', 'the test file is as at an older commit, at which the code was otherwise'
    OLDER_TEST = 'older_test', 'the test file is as at an older commit, at which it had other code'
    OLD = 'old', 'the test file is as at the old revision'
    OLD_CODE = 'old_code', 'the code is as at the old revision, the tests are as at the new one'


SCENARIOS: Mapping[StartBuilder, Scenario] = {
    StartBuilder.ABSENT: Scenario.CREATE,
    StartBuilder.AS_IS: Scenario.CREATE,
    StartBuilder.REMOVED: Scenario.CREATE,
    StartBuilder.OLDER: Scenario.UPDATE,
    StartBuilder.OLDER_TEST: Scenario.UPDATE,
    StartBuilder.OLD: Scenario.UPDATE,
    StartBuilder.INJECTED: Scenario.REPAIR,
    StartBuilder.OLD_CODE: Scenario.IMPLEMENT,
}
"""The scenario of a suite task, by how its start state is made."""


class Defect(Choice):
    """The defect of a test file that is to be repaired; the kinds are TAM-Eval's."""

    MISSED_ASSERTS = 'missed_asserts', 'a test has no assertions any more'
    NO_NEW_COVERED_LOGIC = 'no_new_covered_logic', 'a test does what another one does'
    UNDEFINED_ENTITY = 'undefined_entity', 'a name is used that nothing has'
    INVALID_CALL = 'invalid_call', 'a method is called with an argument too many'
    MISSED_DEPENDENCIES = 'missed_dependencies', 'an import is missing'
    INVALID_CONSTRUCTOR = 'invalid_constructor', 'a constructor is called with an argument too many'
    RUNTIME_ERRORS = 'runtime_errors', 'a test ends with an error at its start'
    DUPLICATE_ENTITY = 'duplicate_entity', 'a test is declared twice'
    SYNTAX_ERROR = 'syntax_error', 'a statement is cut short'


class FocusKind(Choice):
    """The kind of code that a task is about."""

    CLASS = 'class', 'a type with all that is in it'
    FILE = 'file', 'a source file; named by the type that its test file is named after'
    FUNCTION = 'function', 'a function; its lines are those of its body'


@dataclass(frozen=True, slots=True, kw_only=True)
class Focus:
    """A part of the code that the tests of a task are about. Lines are 1-based and inclusive."""

    file: Annotated[str, Column('The path of its file in the repository.')]
    declaration: Annotated[str, Column('Its qualified name, such as `pkg.Type`.')]
    kind: Annotated[FocusKind, Column('What it is.')]
    start_line: Annotated[int, Column('Its first line.', unit='line')]
    end_line: Annotated[int, Column('Its last line, included.', unit='line')]

    def includes_declaration(self, start_line: int, end_line: int) -> bool:
        """Return whether a declaration in the file belongs to the focus.

        For a class or file, the declaration has to start inside the focus. For a function, it has
        to contain the focus, whose lines are only those of the function's body.
        """
        if self.kind is FocusKind.FUNCTION:
            return start_line <= self.start_line and self.end_line <= end_line
        return self.start_line <= start_line <= self.end_line


Unit = Annotated[
    str | None,
    Column(
        'The function, as `FILE#Type.name(TYPE,…)`, or the folder of the package. Null but for '
        '`function` and `module`.'
    ),
]
Complexity = Annotated[
    int | None,
    Column(
        'The cyclomatic complexity of the function (McCabe, as lizard counts it). Null but for '
        '`function`, or if lizard does not read its language.'
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteAdequacy:
    """The adequacy of a suite: what its passing tests together cover and kill in the focus of its
    task.

    Only lines, branches and methods that hold code count. The figures are totals, not means over
    tests.
    """

    tests: Annotated[int, Column('Tests of the file.', unit='tests')]
    passing: Annotated[int, Column('Of these, tests that pass each time.', unit='tests')]
    lines: Annotated[
        int | None,
        Column('Lines of the focus that hold code. Null if nothing was traced.', unit='lines'),
    ] = None
    covered_lines: Annotated[
        int | None,
        Column('Of these, lines that a passing test executes. Null likewise.', unit='lines'),
    ] = None
    branches: Annotated[
        int | None, Column('Branches of the focus. Null likewise.', unit='branches')
    ] = None
    covered_branches: Annotated[
        int | None, Column('Of these, branches that are taken. Null likewise.', unit='branches')
    ] = None
    methods: Annotated[
        int | None,
        Column(
            'Methods and constructors of the focus that hold code. Null likewise.', unit='methods'
        ),
    ] = None
    covered_methods: Annotated[
        int | None, Column('Of these, methods that are executed. Null likewise.', unit='methods')
    ] = None
    mutants: Annotated[
        int | None,
        Column(
            'Mutants that the suite was run with. Null if it was run with none.', unit='mutants'
        ),
    ] = None
    killed: Annotated[
        int | None,
        Column('Of these, mutants with which a passing test fails. Null likewise.', unit='mutants'),
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteMutant:
    """A mutant of the focus, and the outcome of the tests that pass without it."""

    mutant_id: Annotated[str, Column('The mutant: a hash of the pair, its file and its text.')]
    file: Annotated[str, Column('The path of its file in the repository.')]
    line: Annotated[int, Column('The line that it changes.', unit='line')]
    original: Annotated[str, Column('The line as it is.')]
    mutated: Annotated[str, Column('The line as the mutant has it.')]
    equal_compiled: Annotated[
        bool, Column('Whether it compiles to the same program as the code or another mutant.')
    ] = False
    outcome: Annotated[
        Outcome | None,
        Column('The worst outcome of these tests. Null if the mutant was not run.'),
    ] = None
    killed: Annotated[
        bool | None, Column('Whether one of them fails. Null if the mutant was not run.')
    ] = None


# Whole-file maintenance: what a change asks of each test of a file, by the test's label.
#
# A task of the family `maintenance` starts with the old test file on the new code. Tests that the
# change breaks have to be updated, and the others have to stay. Each test of either file is scored
# once.


class ExpectedAction(Choice):
    """The action that a change asks for on a test, by the test's label."""

    UPDATE = 'update', 'the change breaks it: it has to pass again'
    KEEP = 'keep', 'the change leaves it alone: it has to stay as it is'
    REFINE = 'refine', 'it passes either way, and its developers rewrote it: it has to stay'
    REMOVE = 'remove', 'the change breaks it, and its developers deleted it: it may go'
    ADD = 'add', 'its developers added it'
    NONE = 'none', 'nothing: no label says what should become of it'


_ACTIONS: Mapping[Label, ExpectedAction] = {
    Label.UPDATE: ExpectedAction.UPDATE,
    Label.FIXTURE_UPDATE: ExpectedAction.UPDATE,
    Label.UNAFFECTED: ExpectedAction.KEEP,
    Label.FIXTURE_REFINEMENT: ExpectedAction.KEEP,
    Label.EXTENSION: ExpectedAction.REFINE,
    Label.REFINEMENT: ExpectedAction.REFINE,
    Label.OBSOLETE: ExpectedAction.REMOVE,
    Label.GENERATION: ExpectedAction.ADD,
    Label.REDUNDANT: ExpectedAction.ADD,
}
"""Labels that are missing here ask for nothing: `repair` and `cured_by_code` (broken before the
change), `broken_by_change` (broken after it), and `retired` (deleted for no reason that the runs
show).
"""

STAYING = (ExpectedAction.KEEP, ExpectedAction.REFINE)


def find_expected_action(
    label: Label | None, *, same_text: bool, was_there: bool = True
) -> ExpectedAction:
    """Return the action that a label asks for.

    A test that came into the file from another one is to be added, since the old file lacks it.

    was_there  whether the old file has the test
    same_text  whether both files have the test, with the same tokens; without a label the action is
               KEEP if so, and NONE if not
    """
    if label is None:
        return ExpectedAction.KEEP if same_text else ExpectedAction.NONE
    action = _ACTIONS.get(label, ExpectedAction.NONE)
    is_there_at_new = action in (ExpectedAction.UPDATE, *STAYING)
    return ExpectedAction.ADD if is_there_at_new and not was_there else action


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintainedMethod:
    """A test of the old file, of the new one, or of both."""

    old_method: Annotated[
        str | None,
        Column('The test in the old file, as `Container#method`. Null if it is not there.'),
    ]
    new_method: Annotated[
        str | None,
        Column('The test in the new file, as `Container#method`. Null if it is not there.'),
    ]
    label: Annotated[Label | None, Column('Its label. Null if it has none.')]
    expected_action: Annotated[ExpectedAction, Column('What the label asks for.')]


# Implementing a change: the tests that tell whether the code of a change was written.
#
# A task of the family `implement` starts with the old code and one test file of the change as its
# developers left it. The code that makes its new tests pass is to be written.


class TestRole(Choice):
    """The role of a test in the grading of code."""

    __test__ = False  # pytest would collect the class as a test

    TARGET = 'target', 'it is shown, fails with the old code, and has to pass'
    KEPT = 'kept', 'it passes with the old code and with gold, and has to pass still'
    SIBLING = 'sibling', 'it is a target of another test file of the change, which is not shown'
    VARIANT = (
        'variant',
        'it is a target with another literal, not shown: it has to end as it ends with gold',
    )

    @property
    def is_shown(self) -> bool:
        """True if the start state shows the test."""
        return self in (TestRole.TARGET, TestRole.KEPT)


@dataclass(frozen=True, slots=True, kw_only=True)
class DemandedTest:
    """A labelled test by which code is graded: a target, or a sibling that is not shown."""

    method_id: Annotated[str, Column('The `method_id` of its row.')]
    test_file: Annotated[str, Column('The path of its file in the repository.')]
    test_method: Annotated[str, Column('The test, as `Container#method`.')]
    role: Annotated[TestRole, Column('What it is asked for: `target` or `sibling`.')]
