"""Measurements of labelled methods besides their cells: columns of `methods`, and tables of their
own.

All of them are taken while a pair is mined, when its builds are available, and are kept in its
segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from coevo.model.column import Choice, Column, MethodId, PairId, RepoName, TestFile, TextsWithheld
from coevo.model.dependencies import Revised
from coevo.model.words import Outcome, WalkOfRow

VALID = 'valid'  # value of `IsolatedCells.start` for a valid start state
WITHOUT_SIBLINGS = 'gold does not pass without its siblings'
"""The beginning of the reason for an invalid start state that lacks siblings which gold needs."""


class PairEnd(Choice):
    """The two revisions of a pair."""

    OLD = 'old', 'the old revision'
    NEW = 'new', 'the new revision'


@dataclass(frozen=True, slots=True, kw_only=True)
class IsolatedCells:
    """The outcomes of a method with a track in its isolated cells (TestEvo-Bench, 3.2).

    In these cells only the tests of its task are exchanged, and not the whole test tree. See
    docs/internals/tasks.md.
    """

    t_old_c_new: Annotated[
        Outcome | None,
        Column(
            'The new test tree with the targets as at old, on the new code. Null if it was not run.'
        ),
    ]
    t_new_c_old: Annotated[
        Outcome | None,
        Column(
            'The old test tree with the targets as at new, on the old code. Null if it was not run.'
        ),
    ]
    t_new_c_new: Annotated[
        Outcome | None,
        Column(
            'The old test tree with the targets as at new, on the new code. Null if it was not run.'
        ),
    ]
    start: Annotated[str, Column('`valid`, or why no start state could be made.')]
    agrees: Annotated[
        bool, Column('Whether these cells say what the cells of whole test trees say.')
    ]
    detail: Annotated[
        str,
        Column(
            'Where they differ; `with helpers that the pair adds` or `with its whole file, …` where '
            'they agree with that alone.'
        ),
    ] = ''


class SiblingState(Choice):
    """The treatment of targets of a pair's other tasks in the start state of one task."""

    ABSENT = 'absent', 'they are absent with their whole file, which is new'
    REMOVED = 'removed', 'they are removed with what they alone use'
    STAYS = 'stays', 'they could not be removed'


@dataclass(frozen=True, slots=True, kw_only=True)
class SiblingTargets:
    """Targets of the pair's other tasks in one test file."""

    test_file: TestFile
    test_methods: Annotated[
        tuple[str, ...], Column('The targets in it, each as `Container#method`.')
    ]
    undone: Annotated[SiblingState, Column('What became of them in the start state.')]
    why: Annotated[str | None, Column('Why they stay. Null if they do not.')] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairGuard:
    """Evidence that a repaired test was itself at fault; None if a check was not possible."""

    sibling: Annotated[
        str | None,
        Column(
            'Another test near it that passes on the old code, as `Container#method`. '
            'Null if there is none.'
        ),
    ]
    clock_t_old_c_old: Annotated[
        Outcome | None,
        Column(
            'What the old test does on the old code if the clock shows the date of its '
            'commit. Null if that could not be asked.'
        ),
    ]
    clock_t_new_c_new: Annotated[
        Outcome | None,
        Column(
            'What the new test does on the new code if the clock shows the date of its '
            'commit. Null if that could not be asked.'
        ),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredDependency:
    """The new test's coverage of one changed method or constructor of the new revision."""

    file: Annotated[str, Column('The path of its file in the repository.')]
    start_line: Annotated[int, Column('Its first line at new, from 1.', unit='line')]
    declaration: Annotated[str, Column('The declaration as its source writes it.')]
    lines: Annotated[int, Column('Lines of its range.', unit='lines')]
    known_lines: Annotated[int, Column('Of these, lines that hold code.', unit='lines')]
    covered_lines: Annotated[int, Column('Lines that the test executes.', unit='lines')]
    branches: Annotated[int, Column('Branches in it.', unit='branches')]
    covered_branches: Annotated[int, Column('Branches that the test takes.', unit='branches')]
    executed: Annotated[bool, Column('Whether the test executes any of it.')]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """A test's coverage of its changed dependencies at the new revision (TestEvo-Bench, A.4)."""

    lines: Annotated[
        int,
        Column(
            'Lines of the declarations, from first to last, as TestEvo-Bench counts.', unit='lines'
        ),
    ]
    covered_lines: Annotated[int, Column('Lines that the test executes.', unit='lines')]
    known_lines: Annotated[int, Column('Lines that hold code.', unit='lines')]
    branches: Annotated[int, Column('Branches in the declarations.', unit='branches')]
    covered_branches: Annotated[int, Column('Branches that the test takes.', unit='branches')]
    methods: Annotated[int, Column('Methods among the declarations.', unit='methods')]
    covered_methods: Annotated[int, Column('Methods that the test executes.', unit='methods')]

    @property
    def line_coverage(self) -> float | None:
        """Line coverage after the paper (A.4, Eq. 1): the covered share of all lines in the ranges.

        Lines without code count, too. None if there are no lines.
        """
        return self.covered_lines / self.lines if self.lines else None

    @property
    def code_coverage(self) -> float | None:
        """The covered share of the lines that hold code, as coverage tools count.

        None if there are no such lines.
        """
        return self.covered_lines / self.known_lines if self.known_lines else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """The counts of a test method's mutants (TestEvo-Bench, A.5).

    emitted = count + compile_failed + redundant + capped_out + not_checked
    """

    emitted: Annotated[
        int,
        Column(
            'Mutants that were made: the sum of `count`, `compile_failed`, `redundant`, '
            '`capped_out` and `not_checked`.',
            unit='mutants',
        ),
    ]
    compile_failed: Annotated[int, Column('Mutants that do not compile.', unit='mutants')]
    redundant: Annotated[int, Column('Mutants with the same text as another one.', unit='mutants')]
    capped_out: Annotated[
        int, Column('Mutants beyond the number for one file, left out at random.', unit='mutants')
    ]
    not_checked: Annotated[
        int,
        Column(
            'Mutants that no compiler was asked about, in files with very many.', unit='mutants'
        ),
    ]
    count: Annotated[int, Column('Mutants that make up the set of the test.', unit='mutants')]
    equal_compiled: Annotated[
        int,
        Column(
            'Of `count`, those that compile to the same as the original or an earlier '
            'mutant, so that no test can tell them apart.',
            unit='mutants',
        ),
    ]
    not_run: Annotated[
        int,
        Column(
            'Of `count`, those that were not run. It is all of them if the test was left '
            'out at random, and 0 otherwise.',
            unit='mutants',
        ),
    ]
    killed: Annotated[
        int | None,
        Column(
            'Of `count`, those with which the test does not pass. Null if it was left out'
            ' or did not pass three times by itself.',
            unit='mutants',
        ),
    ]

    @property
    def score(self) -> float | None:
        """The killed share of the whole set (A.5, Eq. 3); None if not all mutants were run."""
        known = self.count and not self.not_run and self.killed is not None
        return self.killed / self.count if known and self.killed is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefactoringRow:
    """A refactoring that RefactoringMiner found; `number` counts them in a fixed order."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    number: Annotated[int, Column('Its number in the pair, in a fixed order.')]
    type: Annotated[
        str, Column("The kind of refactoring by the tool's name, such as `Rename Method`.")
    ]
    description: Annotated[str, Column('What was refactored, in the words of the tool.')]
    left_file: Annotated[
        str | None, Column('The file at the old revision. Null if it has no place there.')
    ]
    left_start: Annotated[
        int | None,
        Column('The first line at the old revision. Null if it has no place there.', unit='line'),
    ]
    left_end: Annotated[
        int | None,
        Column('The last line at the old revision. Null if it has no place there.', unit='line'),
    ]
    right_file: Annotated[
        str | None, Column('The file at the new revision. Null if it has no place there.')
    ]
    right_start: Annotated[
        int | None,
        Column('The first line at the new revision. Null if it has no place there.', unit='line'),
    ]
    right_end: Annotated[
        int | None,
        Column('The last line at the new revision. Null if it has no place there.', unit='line'),
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedRow:
    """A production method that a labelled test executed at one revision (TestEvo-Bench, A.1)."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    method_id: MethodId
    end: Annotated[PairEnd, Column('At which revision the test ran, on its own code.')]
    type: Annotated[
        str,
        Column(
            'The qualified name of the type or container that declares the executed '
            "method; `''` if none."
        ),
    ]
    method: Annotated[str, Column('The name of the executed method.')]
    descriptor: Annotated[
        str,
        Column(
            'What tells it from others of its name: the parameter and return types as the compiled '
            'code writes them, such as `(I)V`, else where it begins, a line such as `12` or a file and '
            'a line such as `mux.go:12`.'
        ),
    ]
    file: Annotated[str | None, Column('The path of its source file. Null if it is not known.')]
    first_line: Annotated[int, Column('Its first line with code, from 1.', unit='line')]
    last_line: Annotated[int, Column('Its last line with code.', unit='line')]


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRow:
    """A mutant of the new code, and the result of running a method with a track against it."""

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    method_id: MethodId
    mutant_id: Annotated[str, Column('The mutant: a hash of its pair, file and text.')]
    file: Annotated[str, Column('The path of the mutated file.')]
    line: Annotated[int, Column('The mutated line at the new revision, from 1.', unit='line')]
    original: Annotated[str, Column('The line as it is.')]
    mutated: Annotated[str, Column('The line as the mutant has it.')]
    equal_compiled: Annotated[
        bool, Column('Whether it compiles to the same as the original or an earlier mutant.')
    ]
    outcome: Annotated[Outcome | None, Column('What the test did with it. Null if it was not run.')]
    signature: Annotated[str | None, Column('What failed and where. Null if nothing failed.')]
    killed: Annotated[
        bool | None,
        Column(
            'Whether the test notices the mutant: it does not pass with it. Null if it was not run.'
        ),
    ]
    texts_withheld: TextsWithheld = False


class PitTrouble(Choice):
    """The reason why there are no results from PIT for a test."""

    NOT_OFFERED = 'not_offered', 'there is no PIT for the language'
    NO_METHOD = 'no_method', 'PIT has nothing to mutate: no changed method is in the new code'
    NOT_COMPILED = 'not_compiled', 'the test or the code did not compile'
    TIME = 'time', 'its time was up'
    MEMORY = 'memory', 'its memory was used up'
    NO_REPORT = 'no_report', 'PIT failed, for example because the test does not pass under it'
    BUDGET = 'budget', 'the task has more targets than PIT is asked about'
    TROUBLE = 'trouble', 'coevo itself failed, for example on a full disk'


class ReversalStatus(Choice):
    """The reaction of the new test to the undoing of one declaration."""

    DETECTED = 'detected', 'the test does not pass without this part'
    UNDETECTED = 'undetected', 'the test passes without this part'
    DOES_NOT_COMPILE = 'does_not_compile', 'the code does not compile without this part'
    NOT_RUN = 'not_run', 'it was beyond the number of runs, or cannot be undone alone'
    NOT_OFFERED = 'not_offered', 'the language cannot undo it'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalRow:
    """One part of a change undone alone on the new code, and what the new test then does.

    A part is a method, a field, an initializer, a type's header, a whole type or a resource.
    """

    repo: RepoName
    walk: WalkOfRow
    pair_id: PairId
    method_id: MethodId
    declaration: Annotated[
        str,
        Column(
            'The part of the change that was undone: a method, field, initializer, type '
            'header, whole type or resource. If its name and signature stay, `as before` or the '
            'plain body or value that it got follows.'
        ),
    ]
    file: Annotated[str, Column('The path of its file.')]
    start_line: Annotated[int, Column('Its first line, from 1.', unit='line')]
    revised: Annotated[Revised, Column('What the pair had done to it.')]
    status: Annotated[
        ReversalStatus, Column('Whether the new test notices that this part is undone.')
    ]
    outcome: Annotated[Outcome | None, Column('What the test did. Null if it was not run.')]
    signature: Annotated[str | None, Column('What failed and where. Null if nothing failed.')]
