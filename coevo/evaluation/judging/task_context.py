"""The tasks and submissions that are graded, with the builds and repositories they run in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from coevo.evaluation.assignments import Assignment, TaskAttempt
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.ledger import Ledger
from coevo.git.repository import Repository, load_content
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.engine import BuiltPair
from coevo.languages.verdicts import RunConditions
from coevo.measures.edited_cells import EditedCellRunner
from coevo.model import codec
from coevo.model.records import Pair, TestMethod
from coevo.starts.isolated_cells import Files, IsolatedCellRunner

Entry = TypeVar('Entry')


def recall_or_compute(
    ledger: Ledger | None,
    assignment: Assignment,
    entry_keys: tuple[str, ...],
    kind: type[Entry],
    compute: Callable[[], Entry],
) -> Entry:
    """Return the ledger's entry of a task under the keys `what`; else compute and store it.

    Without a ledger it is always computed.
    """
    data = ledger.read(assignment, *entry_keys) if ledger is not None else None
    if data is not None:
        return codec.decode_record(kind, data)
    entry = compute()
    if ledger is not None:
        ledger.write_entry(codec.encode_record(entry), assignment, *entry_keys)
    return entry


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingCase:
    """A submission to run: the start state as a commit, and the patched file (None if deleted).

    tests_rev  for suites, a commit with the patched file, which is read and never checked out
    refusal    for maintenance, why the submission leaves the file as it is; None if it is accepted
    left_out   for code, files of the patch that have no effect
    gold_rev   for code, a commit with gold's code

    For code, `tests_rev` is the commit with the submitted code.
    """

    attempt: TaskAttempt
    pair: Pair
    start: bytes | None
    patched: bytes | None
    tests_rev: str = ''
    refusal: Refusal | None = None
    left_out: tuple[str, ...] = ()
    gold_rev: str = ''


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """A task in its start state, and where it is run.

    built       see `SubmissionContext`
    source      the repository of the task, with the revisions that the task names
    conditions  the conditions of every run, except for observation
    measured    whether passing tests are also run on edited code
    """

    assignment: Assignment
    built: BuiltPair
    repository: Repository
    source: Repository
    start: bytes | None
    conditions: RunConditions
    measured: bool = False

    @property
    def pair(self) -> Pair:
        """The pair of the built revisions."""
        return self.built.pair

    @property
    def module(self) -> str:
        """The module of the task's test file."""
        return self.assignment.task.module

    @property
    def gold(self) -> bytes | None:
        """The test file as its developers left it; None if they deleted it.

        No process of a submission sees it.
        """
        task = self.assignment.task
        return load_content(self.source, task.new_rev, task.test_file)

    def compile(self, rev: str, test_edits: Files, code_edits: Files = ()) -> CompiledTests:
        """Compile the module's tests of one end on its own code, after edits of both.

        files  edits of the test tree
        code   edits of the code
        """
        edits = CellEdits(tests=test_edits, code=code_edits)
        return self.built.compile(rev, rev, self.module, edits=edits)

    def make_runner(self, conditions: RunConditions | None = None) -> IsolatedCellRunner:
        """Return a runner for other cells of the task, by default under its own conditions."""
        return IsolatedCellRunner(
            built=self.built,
            repository=self.repository,
            conditions=conditions or self.conditions,
        )

    def make_edited_runner(self, tests: bytes | None) -> EditedCellRunner:
        """Return a runner for cells with edited code, with a content of the test file."""
        return EditedCellRunner(
            built=self.built,
            repository=self.repository,
            override=self.conditions.override,
            sources=self.conditions.sources,
            tests=((self.assignment.task.test_file, tests),),
        )

    def compile_start_cell(self, runner: IsolatedCellRunner) -> CompiledTests:
        """Compile the start state on the new code."""
        new = self.pair.new.rev
        compiled = self.built.compile(new, new, self.module, methods=())
        runner.cpu_seconds += compiled.cpu_seconds
        return compiled

    def compile_gold_cell(self, runner: IsolatedCellRunner) -> CompiledTests:
        """Compile gold in the start state on the new code."""
        new = self.pair.new.rev
        gold = ((self.assignment.task.test_file, self.gold),)
        return runner.compile(new, new, self.module, gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionContext:
    """A graded task with a patch applied and both ends built.

    built       its new end is the *start state* as a commit of its own, which contains no gold; its
                old end is the task's old revision
    repository  has these commits and, behind them, the history of the task's repository (a clone
                that may be as shallow as possible), which is never checked out
    patched     the test file with the patch; to put it over the start state, compile with the edits
                `CellEdits(tests=context.files)`
    methods     the targets as they were submitted, by `test_method` of results
    conditions  those of the verdicts on the new code: override, limits, observed
    slowest     CPU seconds of the slowest run of the targets that passed three times, by the same
                names
    """

    assignment: Assignment
    built: BuiltPair
    repository: Repository
    patched: bytes
    methods: Mapping[str, TestMethod]
    conditions: RunConditions
    slowest: Mapping[str, float] = field(default_factory=dict)

    @property
    def pair(self) -> Pair:
        """The pair of the built revisions."""
        return self.built.pair

    @property
    def submitted_file_edits(self) -> tuple[tuple[str, bytes | None], ...]:
        """The edit of the test tree that puts the submitted file in."""
        return ((self.assignment.task.test_file, self.patched),)
