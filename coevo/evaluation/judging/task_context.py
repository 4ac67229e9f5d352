"""Where a submission is judged."""

from __future__ import annotations

from dataclasses import dataclass

from coevo.evaluation.assignments import Assignment
from coevo.git.repository import Repository, load_content
from coevo.languages.cells import CellEdits, CompiledTests
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair
from coevo.model.records import Pair
from coevo.starts.isolated_cells import Files, IsolatedCellRunner


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskContext:
    """A task at its start state, and where it is run.

    built       see `coevo.evaluation.judging.submission_context.SubmissionContext`
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
