"""A pair under study, what a run lends to that, and what is found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coevo.engine.results import PairEvaluation
from coevo.engine.suites import SuiteAnswerCache
from coevo.git.repository import Repository
from coevo.languages.capabilities import Capability
from coevo.languages.engine import BuiltPair
from coevo.languages.refactorings import RefactoringFinder
from coevo.languages.table import offers_capability
from coevo.model.method_rows import MethodRow
from coevo.model.profiles import Profile
from coevo.model.quality import ExecutedRow, MutantRow, RefactoringRow, ReversalRow
from coevo.model.records import Pair
from coevo.model.task_rows import StartRow
from coevo.starts.isolated_cells import Files
from flows.rows import DecidedMethod
from miners.diffs.changes import PairChange


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a run lends to the study of each of its pairs."""

    repository: Repository
    profile: Profile
    suites: SuiteAnswerCache
    refactorings: RefactoringFinder


@dataclass(frozen=True, slots=True, kw_only=True)
class PairContext:
    """A pair under study. What it costs is added to the evaluation's cost."""

    tools: Tools
    change: PairChange
    evaluation: PairEvaluation

    @property
    def built(self) -> BuiltPair:
        return self.evaluation.built

    @property
    def pair(self) -> Pair:
        return self.change.pair

    @property
    def is_traced(self) -> bool:
        """Whether what tests execute is asked for, and can be told."""
        return self.tools.profile.traces and offers_capability(self.pair.language, Capability.TRACE)


@dataclass(slots=True, kw_only=True)
class Study:
    """What was found of methods, by method id, and of the pair, and rows of other tables.

    methods             the rows, which each step fills further with `dataclasses.replace`
    doubts              by method id, why a deciding pass is not believed
    refactoring_status  the pair's `refactorings`, and `suite_old` and `suite_new`; None if not asked
    knows_refactorings  whether rows say if their methods are refactored alone
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
    mutants: tuple[MutantRow, ...] = ()
    reversals: tuple[ReversalRow, ...] = ()
    starts: tuple[StartRow, ...] = ()
    tests: Mapping[str, Files] = field(default_factory=dict)  # other at a method's start, by its id
