"""What is judged of a submission, and where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.evaluation.assignments import Assignment, TaskAttempt
from coevo.evaluation.judging.application import Refusal
from coevo.git.repository import Repository, load_content
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair
from coevo.model.records import Pair, TestMethod
from coevo.starts.isolated_cells import Files, IsolatedCellRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class GradingCase:
    """What is to be run: the start state as a commit, and the patched file, None if deleted.

    tests_rev  of a suite, a commit with the patched file, which is read and never laid out
    refusal    of maintenance, why what was handed in leaves the file as it is
    """

    attempt: TaskAttempt
    pair: Pair
    start: bytes | None
    patched: bytes | None
    tests_rev: str = ''
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """A task at its start state, and where it is run.

    built       see `SubmissionContext`
    source      the repository of the task, with the revisions that it names
    conditions  of every run but for what is observed
    measured    whether what passes is run on edited code, too
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
        return self.built.pair

    @property
    def module(self) -> str:
        return self.assignment.task.module

    @property
    def gold(self) -> bytes | None:
        """The test file as its developers left it; no process of a submission sees it."""
        task = self.assignment.task
        return load_content(self.source, task.new_rev, task.test_file)

    def compile(self, rev: str, files: Files, code: Files = ()) -> CompiledTests:
        """The module's tests of one end with some files, on its own code with others."""
        edits = CellEdits(tests=files, code=code)
        return self.built.compile(rev, rev, self.module, edits=edits)

    def make_runner(self, conditions: RunConditions | None = None) -> IsolatedCellRunner:
        """Where other cells of the task are run; under the context's conditions if none are given."""
        return IsolatedCellRunner(
            built=self.built,
            repository=self.repository,
            conditions=conditions or self.conditions,
        )

    def compile_start_cell(self, runner: IsolatedCellRunner) -> CompiledTests:
        """The start state on the new code."""
        new = self.pair.new.rev
        compiled = self.built.compile(new, new, self.module, methods=())
        runner.cpu_seconds += compiled.cpu_seconds
        return compiled

    def compile_gold_cell(self, runner: IsolatedCellRunner) -> CompiledTests:
        """Gold in the start state on the new code."""
        new = self.pair.new.rev
        gold = ((self.assignment.task.test_file, self.gold),)
        return runner.compile(new, new, self.module, gold)


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionContext:
    """A task with a patch applied, both ends built, its tests judged.

    built       its new end is the *start state* as a commit of its own (gold stands nowhere), its
                old end is the task's
    repository  holds these commits, and the history of the task's repository (of a clone as shallow
                as may be) behind them, which is never laid out
    patched     the test file with the patch, to be laid over the start state:
                `built.compile(new, new, module, edits=Edits(tests=context.files))`
    methods     by `test_method` of results: the targets as they were submitted
    conditions  those of its verdicts on the new code: override, limits, observed
    slowest     by the same names, CPU seconds of the slowest run of those that passed three times
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
        return self.built.pair

    @property
    def files(self) -> tuple[tuple[str, bytes | None], ...]:
        """The edit of the tests' tree that puts the submitted file in."""
        return ((self.assignment.task.test_file, self.patched),)
