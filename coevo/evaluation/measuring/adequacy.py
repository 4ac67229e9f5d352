"""What submitted tests that pass on the new code are worth, gold's numbers beside theirs."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from coevo.evaluation.judging.submission_context import SubmissionContext
from coevo.evaluation.measuring.coverage import executed
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.measuring.kills import failing_edit
from coevo.evaluation.measuring.kills import mutant_kills
from coevo.evaluation.measuring.kills import noticed_in
from coevo.evaluation.measuring.kills import released
from coevo.evaluation.measuring.kills import reversals
from coevo.evaluation.measuring.kills import undoable
from coevo.evaluation.measuring.oracle import old_kills
from coevo.evaluation.measuring.oracle import preservation
from coevo.evaluation.worth import Adequacy
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.table import measures
from coevo.languages.table import reading
from coevo.measures.edited_cells import EditedCellRunner
from coevo.measures.edited_cells import GoldTest
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.mutant_sets import joined
from coevo.measures.mutants import run_mutants
from coevo.measures.parts import Edit
from coevo.measures.reversals import measure_reversals
from coevo.measures.type_under_test import type_under_test
from coevo.model.dependencies import Dependency
from coevo.model.quality import End
from coevo.model.quality import MutantRow
from coevo.model.quality import ReversalRow
from coevo.model.words import Track

Gold = Mapping[str, GoldMethod]
Row = TypeVar('Row', MutantRow, ReversalRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What a target is worth.

    noticed   the changed declarations that it failed for
    failing   an edit with which it ran and failed
    unsteady  whether it failed and passed with the same change undone
    """

    adequacy: Adequacy
    noticed: tuple[Dependency, ...]
    failing: Edit | None
    unsteady: bool


def measure(
    context: SubmissionContext, gold: Gold, kept: Path | None = None
) -> dict[str, Measured]:
    """By name, what these targets of a submission are worth; all of them passed on the new code.

    Gold's part is what the snapshot has, and only what was measured of gold is measured again.
    Transient where test processes do not start.

    kept  folder for what is the same for all submissions to a task; None: it is found out anew
    """
    runner = _runner(context)
    tests = [_test(context, name, one) for name, one in gold.items()]
    covered = executed(context, runner, tests)
    oracles = _oracles(context, runner, gold, kept)
    killed = _mutants(runner, tests, gold, oracles, context.slowest)
    noticed = _reversals(runner, tests, gold)
    share = runner.cpu_seconds / max(1, len(tests))
    return {
        name: Measured(
            adequacy=Adequacy(
                executes_delta=covered[name].executes_delta,
                reaches_assertion=covered[name].reaches_assertion,
                coverage_pred=covered[name].coverage,
                coverage_gold=one.row.task_coverage,
                mutants=mutant_kills(one, _of(name, killed)),
                reversals=reversals(one, _of(name, noticed)),
                oracle=preservation(oracles[name], _of(name, killed)),
                smells_pred=_smells(context, name),
                smells_gold=one.row.smells_new,
                cpu_seconds=share,
            ),
            noticed=noticed_in(one.row.dependencies, _of(name, killed), _of(name, noticed)),
            failing=failing_edit(
                runner, one.row.dependencies, _of(name, killed), _of(name, noticed)
            ),
            unsteady=context.methods[name] in runner.unsteady,
        )
        for name, one in gold.items()
    }


def _runner(context: SubmissionContext) -> EditedCellRunner:
    """The submitted file in the tree of the new revision, on its code."""
    return EditedCellRunner(
        built=context.built,
        repository=context.repository,
        override=context.conditions.override,
        sources=context.conditions.sources,
        tests=context.files,
        confirms=True,
    )


def _test(context: SubmissionContext, name: str, gold: GoldMethod) -> GoldTest:
    """A submitted test under its target's name, with the dependencies of gold."""
    return GoldTest(
        method_id=name, method=context.methods[name], dependencies=gold.row.dependencies
    )


def _oracles(
    context: SubmissionContext, runner: EditedCellRunner, gold: Gold, kept: Path | None
) -> dict[str, MutantSet]:
    """What updates have to kill, by name; tests of other tracks have no old self that passed.

    Released mutants need no tool. These do, and where it is not installed they are not known.
    """
    tool = measures(context.pair.language).mutation
    is_update = context.assignment.task.track is Track.UPDATE
    if not is_update or tool is None or not tool.is_installed():
        return dict.fromkeys(gold, MutantSet())
    old, new = replace(runner, tests=(), end=End.OLD), replace(runner, tests=())
    found = old_kills(old, new, {name: one.row for name, one in gold.items()}, kept)
    runner.cpu_seconds = new.cpu_seconds + old.cpu_seconds - runner.cpu_seconds
    return found


def _mutants(
    runner: EditedCellRunner,
    tests: Sequence[GoldTest],
    gold: Gold,
    oracles: Mapping[str, MutantSet],
    slowest: Mapping[str, float],
) -> tuple[MutantRow, ...]:
    """Those that were released and those that the old test kills, in one go."""
    sets = {name: joined([released(one), oracles[name]]) for name, one in gold.items()}
    asked = [test for test in tests if sets[test.method_id].kept]
    return run_mutants(runner, asked, sets, slowest=slowest).rows


def _reversals(
    runner: EditedCellRunner, tests: Sequence[GoldTest], gold: Gold
) -> tuple[ReversalRow, ...]:
    return measure_reversals(
        runner,
        [replace(test, undone=undoable(gold[test.method_id])) for test in tests],
    )


def _smells(context: SubmissionContext, name: str) -> tuple[str, ...]:
    """None of a method that another file declares: the patch has changed nothing of it."""
    method, pair = context.methods[name], context.pair
    smells = measures(pair.language).smells
    if smells is None:
        return (NOT_OFFERED,)
    production = type_under_test(reading(pair.language), context.repository, pair.new.rev, method)
    try:
        return tuple(map(str, smells.smells_of(context.patched, method, production)))
    except LookupError:
        return ()


def _of(name: str, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.method_id == name]
