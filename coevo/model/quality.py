"""What is measured of labelled methods beside their cells: columns of `methods`, and tables.

All of it is made while a pair is mined, where its builds are at hand, and kept in its segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coevo.model.records import Outcome
from coevo.model.records import Revised
from coevo.model.records import Walk

VALID = 'valid'  # of a start state: it is what it should be
WITHOUT_SIBLINGS = 'gold does not pass without its siblings'
"""How the reason begins why a start state is none, where that is so."""


class End(StrEnum):
    """Which revision of a pair."""

    OLD = 'old'
    NEW = 'new'


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolated:
    """The isolated cells of a method with a track (ARCHITECTURE, "Tasks"; TestEvo-Bench, 3.2).

    start   `valid`, or why the start state of the method's task is none
    agrees  whether they say what the cells of whole test trees say
    """

    told_cnew: Outcome | None
    tnew_cold: Outcome | None
    tnew_cnew: Outcome | None
    start: str
    agrees: bool
    detail: str = ''


class Undone(StrEnum):
    """What became of targets of a pair's other tasks in the start state of one."""

    ABSENT = 'absent'  # with their whole file, which is new
    REMOVED = 'removed'  # with what they alone use
    STAYS = 'stays'


@dataclass(frozen=True, slots=True, kw_only=True)
class Sibling:
    """Targets of the pair's other tasks in one test file.

    test_methods  Class#method
    why           they stay; None where they do not
    """

    test_file: str
    test_methods: tuple[str, ...]
    undone: Undone
    why: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairGuard:
    """What speaks for the test's own fault, of a repair; None where it could not be asked.

    sibling  another test that passes in told_cold, `Class#method`
    clock_*  the cells again, with the clock set to the date of the code's commit
    """

    sibling: str | None
    clock_told_cold: Outcome | None
    clock_tnew_cnew: Outcome | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredDependency:
    """What the new test covers of one changed method or constructor that stands at new.

    lines, known_lines, …  as in `Coverage`; `executed` where any of it was, line or not
    """

    file: str
    start_line: int
    declaration: str
    lines: int
    known_lines: int
    covered_lines: int
    branches: int
    covered_branches: int
    executed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What a test covers of changed dependencies at new (TestEvo-Bench, A.4).

    lines         of the whole range of the declarations, as the paper counts; covered where an
                  instruction of the line was executed
    known_lines   of these, those that have code
    """

    lines: int
    covered_lines: int
    known_lines: int
    branches: int
    covered_branches: int
    methods: int
    covered_methods: int

    @property
    def line_coverage(self) -> float | None:
        """The paper's line coverage (A.4, Eq. 1): of all lines of the range, with code or without."""
        return self.covered_lines / self.lines if self.lines else None

    @property
    def code_coverage(self) -> float | None:
        """Of the lines that have code, as coverage tools count."""
        return self.covered_lines / self.known_lines if self.known_lines else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """The accounting of a test method's mutants (TestEvo-Bench, A.5).

    emitted = count + compile_failed + redundant + capped_out + not_checked

    not_checked      of files with very many mutants, those that no compiler was asked about
    equal_compiled  of `count`, those whose byte code is the original's or an earlier mutant's
    not_run          all of `count` where the test was left out by lot, since the pair's runs were too
                     few for all; 0 where it was run against all of them
    killed           None where it was left out, or did not pass three times by itself
    """

    emitted: int
    compile_failed: int
    redundant: int
    capped_out: int
    not_checked: int
    count: int
    equal_compiled: int
    not_run: int
    killed: int | None

    @property
    def score(self) -> float | None:
        """The share of the whole set that is killed (A.5, Eq. 3); None where that is not known."""
        known = self.count and not self.not_run and self.killed is not None
        return self.killed / self.count if known and self.killed is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefactoringRow:
    """A refactoring that RefactoringMiner finds in a pair; `number` counts them in a fixed order."""

    repo: str
    walk: Walk
    pair_id: str
    number: int
    type: str
    description: str
    left_file: str | None
    left_start: int | None
    left_end: int | None
    right_file: str | None
    right_start: int | None
    right_end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedRow:
    """A production method that a labelled test executes at one end (TestEvo-Bench, A.1)."""

    repo: str
    walk: Walk
    pair_id: str
    method_id: str
    end: End
    type: str
    method: str
    descriptor: str
    file: str | None
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MutantRow:
    """A mutant of the new code that a method with a track was run against, and what it did."""

    repo: str
    walk: Walk
    pair_id: str
    method_id: str
    mutant_id: str
    file: str
    line: int
    original: str  # the line as it is
    mutated: str
    equal_compiled: bool
    outcome: Outcome | None  # None where it was not run
    signature: str | None
    killed: bool | None


class PitTrouble(StrEnum):
    """Why nothing is known of PIT's mutants under a test."""

    NOT_OFFERED = 'not_offered'  # there is no PIT in the language
    NO_METHOD = 'no_method'  # no changed method stands at new
    NOT_COMPILED = 'not_compiled'
    OLD_RUNTIME = 'old_runtime'  # older than PIT's
    TIME = 'time'
    MEMORY = 'memory'
    NO_REPORT = 'no_report'  # PIT failed, such as for a test that does not pass in its hands
    BUDGET = 'budget'  # the task has more targets than PIT is asked about
    TROUBLE = 'trouble'  # of ours: disk, a daemon


class ReversalStatus(StrEnum):
    """Whether the new test notices that one declaration is as it was."""

    DETECTED = 'detected'
    UNDETECTED = 'undetected'
    DOES_NOT_COMPILE = 'does_not_compile'
    NOT_RUN = 'not_run'
    NOT_OFFERED = 'not_offered'  # the language cannot undo it


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalRow:
    """One part of a change undone alone on the new code, and what the new test then does.

    A part is a method, a field, an initializer, a type's header or the whole type, or a resource.
    """

    repo: str
    walk: Walk
    pair_id: str
    method_id: str
    declaration: str
    file: str
    start_line: int
    revised: Revised
    status: ReversalStatus
    outcome: Outcome | None
    signature: str | None
