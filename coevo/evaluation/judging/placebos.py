"""Placebos, which detect submitted tests that notice an edit whatever the edit does.

A target is run on code with edits that change nothing (`coevo.measures.placebos`), in cells that
are made and run like those of mutants and undone changes. If gold itself fails with a kind of edit,
for instance because it reads line numbers, that kind is not used. Gold runs in a cell that no
submission sees.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.memory import recall_or_ask
from coevo.evaluation.judging.outcomes import TargetResult
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Placebo
from coevo.languages.cells import CompiledTests
from coevo.languages.placebos import PlaceboKind
from coevo.languages.table import get_measures
from coevo.measures.placebos import make_placebo
from coevo.model.dependencies import Dependency
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import Files

# An edit may turn out not to compile at the place drawn for it. Then another place is drawn.
_DRAWS = 3

_DRAW = secrets.SystemRandom()


class PlaceboReaction(StrEnum):
    """The reaction of a test to edits that change nothing.

    BLIND: it passes with them. SEES_EDITS: it fails twice.
    """

    BLIND = 'blind'
    SEES_EDITS = 'sees_edits'
    UNSTABLE = 'unstable'  # it both passes and fails with the same edit


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboResult:
    """The reaction of a test to placebos.

    kind  the kind that gold passes with; NONE if there is no such kind, NOT_OFFERED if the language
          has no placebos
    """

    sight: PlaceboReaction
    kind: Placebo
    cpu_seconds: float = 0.0


def apply_placebo_result(seen: TargetResult, looked: PlaceboResult) -> TargetResult:
    """Return the result of a passing target with the result of its placebo run added.

    A target that sees edits is marked as tampered, and an unstable one as unstable.
    """
    new = seen.new
    assert new is not None, 'what was looked at has passed'
    known = (seen.placebo, looked.kind)
    seen = replace(
        seen,
        placebo=min((kind for kind in known if kind is not None), key=tuple(Placebo).index),
        cpu_seconds=seen.cpu_seconds + looked.cpu_seconds,
    )
    match looked.sight:
        case PlaceboReaction.SEES_EDITS:
            return replace(seen, new=replace(new, tampered=PlaceboReaction.SEES_EDITS))
        case PlaceboReaction.UNSTABLE:
            return replace(seen, unstable='once pass, once not with an edit of no effect')
        case PlaceboReaction.BLIND:
            return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _GoldVerdict:
    passes: bool


@dataclass(slots=True, kw_only=True)
class _CpuTotal:
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceboRunner:
    """A runner of targets with placebos; with a ledger, gold runs once for each declaration."""

    ledger: Ledger | None = None

    def run_placebos(
        self,
        context: TaskContext,
        patched: bytes,
        target: Target,
        method: TestMethod,
        declarations: Sequence[Dependency],
    ) -> PlaceboResult:
        """Run a passing target on code that has a placebo in each of these declarations.

        The kind that is noticed most easily comes first: a test that passes with it would pass with
        the others. A kind with which gold fails is skipped. If no kind is left, the reaction is
        BLIND.
        Raises: Transient if a test process does not start.
        """
        if get_measures(context.pair.language).placebos is None:
            return PlaceboResult(sight=PlaceboReaction.BLIND, kind=Placebo.NOT_OFFERED)
        spent = _CpuTotal()
        for kind in PlaceboKind:
            cell = _compile_placebo_cell(context, patched, declarations, kind, spent)
            if cell is None:
                continue
            sight = _observe_reaction(context, cell, method, spent)
            is_valid_kind = sight is not PlaceboReaction.SEES_EDITS or self._gold_passes(
                context, target, declarations, kind, spent
            )
            if is_valid_kind:
                return PlaceboResult(sight=sight, kind=Placebo(kind), cpu_seconds=spent.cpu_seconds)
        return PlaceboResult(
            sight=PlaceboReaction.BLIND, kind=Placebo.NONE, cpu_seconds=spent.cpu_seconds
        )

    def _gold_passes(
        self,
        context: TaskContext,
        target: Target,
        declarations: Sequence[Dependency],
        kind: PlaceboKind,
        spent: _CpuTotal,
    ) -> bool:
        gold = context.gold

        def run_gold() -> _GoldVerdict:
            """Run gold with a placebo; it passes only if there is a place for one."""
            cell = (
                None
                if gold is None
                else _compile_placebo_cell(context, gold, declarations, kind, spent)
            )
            passes = cell is not None and _run_passes(context, cell, target.method, spent)
            return _GoldVerdict(passes=passes)

        what = ('placebo', target.name, kind, repr(tuple(declarations)))
        return recall_or_ask(self.ledger, context.assignment, what, _GoldVerdict, run_gold).passes


def _compile_placebo_cell(
    context: TaskContext,
    tests: bytes,
    declarations: Sequence[Dependency],
    kind: PlaceboKind,
    spent: _CpuTotal,
) -> CompiledTests | None:
    """Compile a test file on code with a placebo; None if there is no place for one."""
    new = context.pair.new.rev
    files: Files = ((context.assignment.task.test_file, tests),)
    for _ in range(_DRAWS):
        code = make_placebo(context.repository, context.pair, declarations, kind, _DRAW)
        if not code:
            return None
        cell = context.compile(new, files, code)
        spent.cpu_seconds += cell.cpu_seconds
        if cell.code_failure is None:
            return cell
    return None


def _observe_reaction(
    context: TaskContext, cell: CompiledTests, method: TestMethod, spent: _CpuTotal
) -> PlaceboReaction:
    """Run a test with a placebo; a failure is repeated to rule out chance."""
    if _run_passes(context, cell, method, spent):
        return PlaceboReaction.BLIND
    return (
        PlaceboReaction.UNSTABLE
        if _run_passes(context, cell, method, spent)
        else PlaceboReaction.SEES_EDITS
    )


def _run_passes(
    context: TaskContext, cell: CompiledTests, method: TestMethod, spent: _CpuTotal
) -> bool:
    verdict, batch = run_alone(context.built, cell, method, context.conditions)
    spent.cpu_seconds += batch.cpu_seconds
    return verdict.outcome is Outcome.PASS
