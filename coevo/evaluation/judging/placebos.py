"""Does a submitted test tell code that was edited from code that was not, whatever the edit does?

Asked by edits that do nothing (`coevo.measures.placebos`), in cells that are made and run as those of
mutants and undone changes are. Where gold itself fails with an edit of some kind (it reads line
numbers, say), that kind is not asked; gold runs in a cell that no submission sees.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from enum import StrEnum

from coevo.evaluation.assignments import Target
from coevo.evaluation.judging.alone import run_alone
from coevo.evaluation.judging.memory import asked_once
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import Placebo
from coevo.languages.cells import Compiled
from coevo.languages.placebos import PlaceboKind
from coevo.languages.table import measures
from coevo.measures.placebos import placebo
from coevo.model.dependencies import Dependency
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from coevo.starts.isolated_cells import Files

# A place may be one where nothing can be put in after all: another one is drawn.
_DRAWS = 3

_DRAW = secrets.SystemRandom()


class Sight(StrEnum):
    """What a test makes of edits that do nothing."""

    BLIND = 'blind'
    SEES_EDITS = 'sees_edits'
    UNSTABLE = 'unstable'  # it passes and fails with the same one


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """`asked` is the kind that gold passes with, NONE where there is none, NOT_OFFERED where the
    language has none at all."""

    sight: Sight
    asked: Placebo
    cpu_seconds: float = 0.0


def with_sight(seen: Seen, looked: Looked) -> Seen:
    """What is seen of a target that passes, after a look at it."""
    new = seen.new
    assert new is not None, 'what was looked at has passed'
    known = (seen.placebo, looked.asked)
    seen = replace(
        seen,
        placebo=min((one for one in known if one is not None), key=tuple(Placebo).index),
        cpu_seconds=seen.cpu_seconds + looked.cpu_seconds,
    )
    match looked.sight:
        case Sight.SEES_EDITS:
            return replace(seen, new=replace(new, tampered=Sight.SEES_EDITS))
        case Sight.UNSTABLE:
            return replace(seen, unstable='once pass, once not with an edit of no effect')
        case Sight.BLIND:
            return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    passes: bool


@dataclass(slots=True, kw_only=True)
class _Spent:
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Placebos:
    """Gold is asked once for each task and declaration, where there is a ledger."""

    ledger: Ledger | None = None

    def look(
        self,
        context: TaskContext,
        patched: bytes,
        target: Target,
        method: TestMethod,
        declarations: Sequence[Dependency],
    ) -> Looked:
        """Run a target that passes with all these declarations written in another way; Transient.

        A test that passes with the kind that is noticed most easily would pass with the others.
        """
        if measures(context.pair.language).placebos is None:
            return Looked(sight=Sight.BLIND, asked=Placebo.NOT_OFFERED)
        spent = _Spent()
        for kind in PlaceboKind:
            cell = _cell(context, patched, declarations, kind, spent)
            if cell is None:
                continue
            sight = _sight(context, cell, method, spent)
            asked = sight is not Sight.SEES_EDITS or self._gold_passes(
                context, target, declarations, kind, spent
            )
            if asked:
                return Looked(sight=sight, asked=Placebo(kind), cpu_seconds=spent.cpu_seconds)
        return Looked(sight=Sight.BLIND, asked=Placebo.NONE, cpu_seconds=spent.cpu_seconds)

    def _gold_passes(
        self,
        context: TaskContext,
        target: Target,
        declarations: Sequence[Dependency],
        kind: PlaceboKind,
        spent: _Spent,
    ) -> bool:
        gold = context.gold

        def ask() -> _Kept:
            cell = None if gold is None else _cell(context, gold, declarations, kind, spent)
            passes = cell is not None and _passes(context, cell, target.method, spent)
            return _Kept(passes=passes)

        what = ('placebo', target.name, kind, repr(tuple(declarations)))
        return asked_once(self.ledger, context.assignment, what, _Kept, ask).passes


def _cell(
    context: TaskContext,
    tests: bytes,
    declarations: Sequence[Dependency],
    kind: PlaceboKind,
    spent: _Spent,
) -> Compiled | None:
    """A test file on code with a placebo; None where there is nothing to put one in."""
    new = context.pair.new.rev
    files: Files = ((context.assignment.task.test_file, tests),)
    for _ in range(_DRAWS):
        code = placebo(context.repository, context.pair, declarations, kind, _DRAW)
        if not code:
            return None
        cell = context.compile(new, files, code)
        spent.cpu_seconds += cell.cpu_seconds
        if cell.code_failure is None:
            return cell
    return None


def _sight(context: TaskContext, cell: Compiled, method: TestMethod, spent: _Spent) -> Sight:
    """A failure is confirmed, lest chance be taken for sight."""
    if _passes(context, cell, method, spent):
        return Sight.BLIND
    return Sight.UNSTABLE if _passes(context, cell, method, spent) else Sight.SEES_EDITS


def _passes(context: TaskContext, cell: Compiled, method: TestMethod, spent: _Spent) -> bool:
    verdict, batch = run_alone(context.built, cell, method, context.conditions)
    spent.cpu_seconds += batch.cpu_seconds
    return verdict.outcome is Outcome.PASS
