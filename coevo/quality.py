"""What is measured of labelled methods beside their cells: columns of `methods`, and tables.

All of it is made while a pair is mined, where its builds are at hand, and kept in its segment.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from coevo.records import Outcome
from coevo.records import Revised
from coevo.records import Walk

VALID = 'valid'  # of a start state: it is what it should be


class End(StrEnum):
    """Which revision of a pair."""

    OLD = 'old'
    NEW = 'new'


@dataclass(frozen=True, slots=True, kw_only=True)
class Isolated:
    """The isolated cells of a method with a track (design, "isolated cell"; TestEvo-Bench, 3.2).

    start   `valid`, or why the start state of the method's task is none
    agrees  whether they say what the cells of whole test trees say
    """

    told_cnew: Outcome | None
    tnew_cold: Outcome | None
    tnew_cnew: Outcome | None
    start: str
    agrees: bool
    detail: str = ''


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
class Coverage:
    """What the new test covers of its changed dependencies at new (TestEvo-Bench, A.4).

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutation:
    """The accounting of a test method's mutants (TestEvo-Bench, A.5).

    emitted = count + compile_failed + redundant + capped_out + not_checked

    not_checked      of files with very many mutants, those that no compiler was asked about
    equal_byte_code  of `count`, those whose byte code is the original's or an earlier mutant's
    not_run          of `count`, those for which the pair's budget did not last
    killed           of those that were run; None where the test itself did not pass three times
    """

    emitted: int
    compile_failed: int
    redundant: int
    capped_out: int
    not_checked: int
    count: int
    equal_byte_code: int
    not_run: int
    killed: int | None

    @property
    def score(self) -> float | None:
        """The share that is killed of those that were run; None where there is none."""
        ran = self.count - self.not_run
        return self.killed / ran if ran and self.killed is not None else None


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
    equal_byte_code: bool
    outcome: Outcome | None  # None where it was not run
    signature: str | None
    killed: bool | None


class PitTrouble(StrEnum):
    """Why nothing is known of PIT's mutants under a test."""

    NO_METHOD = 'no_method'  # no changed method stands at new
    NOT_COMPILED = 'not_compiled'
    OLD_JDK = 'old_jdk'  # older than PIT's
    TIME = 'time'
    MEMORY = 'memory'
    NO_REPORT = 'no_report'  # PIT failed, such as for a test that does not pass in its hands
    BUDGET = 'budget'  # the task's other tests have spent it
    TROUBLE = 'trouble'  # of ours: disk, a daemon


class ReversalStatus(StrEnum):
    """Whether the new test notices that one declaration is as it was."""

    DETECTED = 'detected'
    UNDETECTED = 'undetected'
    DOES_NOT_COMPILE = 'does_not_compile'
    NOT_RUN = 'not_run'


@dataclass(frozen=True, slots=True, kw_only=True)
class ReversalRow:
    """One changed declaration undone alone on the new code, and what the new test then does."""

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
