"""The input and the results of the study of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.engine.results import PairEvaluation
from coevo.engine.suites import SuiteAnswerCache, TestsOf
from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability
from coevo.languages.engine import BuiltPair
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.table import offers_capability
from coevo.model.method_rows import MethodRow
from coevo.model.profiles import Profile
from coevo.model.quality import ExecutedRow, RefactoringRow
from coevo.model.records import Pair
from coevo.model.task_rows import StartRow
from coevo.starts.isolated_cells import Files
from flows.rows import DecidedMethod
from miners.diffs.changes import PairChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Tools that a run shares among the studies of its pairs."""

    repository: Repository
    profile: Profile
    suites: SuiteAnswerCache
    list_tests: TestsOf
    refactorings: RefactoringFinder


@dataclass(frozen=True, slots=True, kw_only=True)
class PairContext:
    """A pair under study; its cost is added to the evaluation's cost."""

    tools: Tools
    change: PairChange
    evaluation: PairEvaluation

    @property
    def built(self) -> BuiltPair:
        """The builds of the pair."""
        return self.evaluation.built

    @property
    def pair(self) -> Pair:
        """The pair."""
        return self.change.pair

    @property
    def is_traced(self) -> bool:
        """True if the profile demands traces and the language offers them."""
        return self.tools.profile.traces and offers_capability(self.pair.language, Capability.TRACE)


@dataclass(slots=True, kw_only=True)
class Study:
    """The results of a study: by method id, of the pair, and rows of other tables.

    methods             the rows, which each step extends with `dataclasses.replace`
    doubts              by method id, why a pass that decides the label is not trusted
    refactoring_status  the pair's `refactorings`, as are `suite_old` and `suite_new` its columns;
                        None if not checked
    knows_refactorings  whether rows say if their methods are only refactored
    """

    decided: tuple[DecidedMethod, ...] = ()
    methods: dict[str, MethodRow] = field(default_factory=dict)
    refactoring_status: str | None = None
    knows_refactorings: bool = False
    suite_old: str | None = None
    suite_new: str | None = None
    doubts: dict[str, str] = field(default_factory=dict)
    executed: tuple[ExecutedRow, ...] = ()
    refactorings: tuple[RefactoringRow, ...] = ()
    starts: tuple[StartRow, ...] = ()
    # files that differ at the start of a method's task, by method id
    tests: Mapping[str, Files] = field(default_factory=dict)
