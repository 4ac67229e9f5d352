"""What submitted tests that pass on the new code are worth, gold's numbers beside theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from coevo.evaluation.judging.submission_context import SubmissionContext
from coevo.evaluation.measuring.coverage import measure_execution
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.measuring.kills import (
    count_mutant_kills,
    count_noticed_undos,
    find_failing_edit,
    find_noticed_dependencies,
    list_undoable_changes,
    select_released_mutants,
)
from coevo.evaluation.measuring.oracle import find_old_kills, measure_preservation
from coevo.evaluation.worth import Adequacy
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.table import get_measures, get_reading
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.mutant_sets import MutantSet, join_sets
from coevo.measures.mutants import run_mutants
from coevo.measures.parts import Edit
from coevo.measures.reversals import measure_reversals
from coevo.measures.type_under_test import find_type_under_test
from coevo.model.dependencies import Dependency
from coevo.model.quality import MutantRow, PairEnd, ReversalRow
from coevo.model.words import Track

Gold = Mapping[str, GoldMethod]
Row = TypeVar('Row', MutantRow, ReversalRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMeasures:
    """What a target is worth.

    noticed   the changed declarations that it failed for
    failing   an edit with which it ran and failed
    unstable  whether it failed and passed with the same change undone
    """

    adequacy: Adequacy
    noticed: tuple[Dependency, ...]
    failing: Edit | None
    unstable: bool


def measure_targets(
    context: SubmissionContext, gold: Gold, kept: Path | None = None
) -> dict[str, TargetMeasures]:
    """By name, what these targets of a submission are worth; all of them passed on the new code.

    Gold's part is what the snapshot has, and only what was measured of gold is measured again.
    Transient where test processes do not start.

    kept  folder for what is the same for all submissions to a task; None: it is found out anew
    """
    runner = _make_runner(context)
    tests = [_make_submitted_test(context, name, gold_method) for name, gold_method in gold.items()]
    covered = measure_execution(context, runner, tests)
    oracles = _find_oracle_mutants(context, runner, gold, kept)
    killed = _run_all_mutants(runner, tests, gold, oracles, context.slowest)
    noticed = _run_undone_changes(runner, tests, gold)
    share = runner.cpu_seconds / max(1, len(tests))
    return {
        name: TargetMeasures(
            adequacy=Adequacy(
                executes_delta=covered[name].executes_delta,
                reaches_assertion=covered[name].reaches_assertion,
                coverage_pred=covered[name].coverage,
                coverage_gold=gold_method.row.task_coverage,
                mutants=count_mutant_kills(gold_method, _select_rows(name, killed)),
                reversals=count_noticed_undos(gold_method, _select_rows(name, noticed)),
                oracle=measure_preservation(oracles[name], _select_rows(name, killed)),
                smells_pred=_find_smells(context, name),
                smells_gold=gold_method.row.smells_new,
                cpu_seconds=share,
            ),
            noticed=find_noticed_dependencies(
                gold_method.row.dependencies,
                _select_rows(name, killed),
                _select_rows(name, noticed),
            ),
            failing=find_failing_edit(
                runner,
                gold_method.row.dependencies,
                _select_rows(name, killed),
                _select_rows(name, noticed),
            ),
            unstable=context.methods[name] in runner.unstable,
        )
        for name, gold_method in gold.items()
    }


def _make_runner(context: SubmissionContext) -> EditedCellRunner:
    """The submitted file in the tree of the new revision, on its code."""
    return EditedCellRunner(
        built=context.built,
        repository=context.repository,
        override=context.conditions.override,
        sources=context.conditions.sources,
        tests=context.files,
        confirms=True,
    )


def _make_submitted_test(context: SubmissionContext, name: str, gold: GoldMethod) -> GoldTest:
    """A submitted test under its target's name, with the dependencies of gold."""
    return GoldTest(
        method_id=name, method=context.methods[name], dependencies=gold.row.dependencies
    )


def _find_oracle_mutants(
    context: SubmissionContext, runner: EditedCellRunner, gold: Gold, kept: Path | None
) -> dict[str, MutantSet]:
    """What updates have to kill, by name; tests of other tracks have no old self that passed.

    Released mutants need no tool. These do, and where it is not installed they are not known.
    """
    tool = get_measures(context.pair.language).mutation
    is_update = context.assignment.task.track is Track.UPDATE
    if not is_update or tool is None or not tool.is_installed():
        return dict.fromkeys(gold, MutantSet())
    old, new = replace(runner, tests=(), end=PairEnd.OLD), replace(runner, tests=())
    oracle_mutants = find_old_kills(
        old, new, {name: gold_method.row for name, gold_method in gold.items()}, kept
    )
    runner.cpu_seconds = new.cpu_seconds + old.cpu_seconds - runner.cpu_seconds
    return oracle_mutants


def _run_all_mutants(
    runner: EditedCellRunner,
    tests: Sequence[GoldTest],
    gold: Gold,
    oracles: Mapping[str, MutantSet],
    slowest: Mapping[str, float],
) -> tuple[MutantRow, ...]:
    """Those that were released and those that the old test kills, in one go."""
    sets = {
        name: join_sets([select_released_mutants(gold_method), oracles[name]])
        for name, gold_method in gold.items()
    }
    tests_with_mutants = [test for test in tests if sets[test.method_id].mutants]
    return run_mutants(runner, tests_with_mutants, sets, slowest=slowest).rows


def _run_undone_changes(
    runner: EditedCellRunner, tests: Sequence[GoldTest], gold: Gold
) -> tuple[ReversalRow, ...]:
    return measure_reversals(
        runner,
        [replace(test, undone=list_undoable_changes(gold[test.method_id])) for test in tests],
    )


def _find_smells(context: SubmissionContext, name: str) -> tuple[str, ...]:
    """None of a method that another file declares: the patch has changed nothing of it."""
    method, pair = context.methods[name], context.pair
    smells = get_measures(pair.language).smells
    if smells is None:
        return (NOT_OFFERED,)
    production = find_type_under_test(
        get_reading(pair.language), context.repository, pair.new.rev, method
    )
    try:
        return tuple(map(str, smells.find_smells(context.patched, method, production)))
    except LookupError:
        return ()


def _select_rows(name: str, rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row.method_id == name]
