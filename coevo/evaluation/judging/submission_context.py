"""Where a submitted test was judged: what measures of its worth need to run it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.evaluation.assignments import Assignment
from coevo.git.repository import Repository
from coevo.languages.conditions import RunConditions
from coevo.languages.engine import BuiltPair
from coevo.model.records import Pair, TestMethod


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
