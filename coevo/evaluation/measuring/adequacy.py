"""The adequacy of submitted tests that pass on the new code, with gold's figures beside it.

Which released mutants and undone changes a submitted test notices is counted beside gold's figures.
A test runs as gold did, in a fresh process each time: with each mutant, after it has passed three
times on unedited code. Only what was run for gold counts, so that both have one denominator
(TestEvo-Bench, A.5).

These runs are not observed. A submitted test gains by failing here, which needs no forgery; a
forged pass only means that a mutant survives. Tests that fail merely because the code was edited
are found by placebos (`coevo.evaluation.judging.placebos`), one for each declaration in which a
test notices a mutant or an undone change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from coevo.evaluation.judging.task_context import SubmissionContext
from coevo.evaluation.measuring.coverage import measure_execution
from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.measuring.oracle import find_old_kills, measure_preservation
from coevo.evaluation.worth import Adequacy, Detections
from coevo.languages.capabilities import NOT_OFFERED
from coevo.languages.core.test_runs import PassingTimes
from coevo.languages.mutation import Mutant
from coevo.languages.table import get_measures, get_reading
from coevo.measures.declaration_pairs import find_type_under_test
from coevo.measures.edited_cells import RUN_AND_BROKEN, EditedCellRunner, GoldTest
from coevo.measures.mutant_sets import DrawnMutant, MutantSet, join_sets
from coevo.measures.mutants import run_mutants
from coevo.measures.parts import Edit, list_undoable_parts
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Dependency
from coevo.model.quality import MutantRow, PairEnd, ReversalRow, ReversalStatus
from coevo.model.words import Outcome, Track

Gold = Mapping[str, GoldMethod]
Row = TypeVar('Row', MutantRow, ReversalRow)


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetMeasures:
    """The measurements of one target.

    noticed   the changed declarations in which it notices a mutant or an undone change
    failing   an edit with which it ran and failed
    unstable  whether it both failed and passed with the same change undone
    """

    adequacy: Adequacy
    noticed: tuple[Dependency, ...]
    failing: Edit | None
    unstable: bool


def measure_targets(
    context: SubmissionContext, gold: Gold, cache_folder: Path | None = None
) -> dict[str, TargetMeasures]:
    """Run submitted targets with mutants and undone changes, and return what they notice, by name.

    All of them pass on the new code. Gold's figures come from the snapshot, and only what was
    measured of gold is measured here.
    kept  folder that keeps what is the same for all submissions to a task; None: measured anew
    Raises: Transient if test processes do not start.
    """
    runner = _make_runner(context)
    tests = [_make_submitted_test(context, name, gold_method) for name, gold_method in gold.items()]
    covered = measure_execution(context, runner, tests)
    oracles = _find_oracle_mutants(context, runner, gold, cache_folder)
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
                gold_method,
                _select_rows(name, killed),
                _select_rows(name, noticed),
            ),
            unstable=context.methods[name] in runner.unstable,
        )
        for name, gold_method in gold.items()
    }


def _make_runner(context: SubmissionContext) -> EditedCellRunner:
    """Return a runner with the submitted file in the tree of the new revision, on its code.

    It knows how long the submitted tests took to pass.
    """
    passing = PassingTimes()
    for name, seconds in context.slowest.items():
        passing.note_seconds(context.methods[name], seconds)
    return EditedCellRunner(
        built=context.built,
        repository=context.repository,
        override=context.conditions.override,
        sources=context.conditions.sources,
        tests=context.submitted_file_edits,
        confirms=True,
        passing=passing,
    )


def _make_submitted_test(context: SubmissionContext, name: str, gold: GoldMethod) -> GoldTest:
    """Return a submitted test under its target's name, with the dependencies of gold."""
    return GoldTest(
        method_id=name, method=context.methods[name], dependencies=gold.row.dependencies
    )


def _find_oracle_mutants(
    context: SubmissionContext, runner: EditedCellRunner, gold: Gold, cache_folder: Path | None
) -> dict[str, MutantSet]:
    """Return, by name, the mutants that updates and extensions should kill; none for other tracks.

    Tests of other tracks have no old version that passed. Unlike released mutants, these mutants
    need a mutation tool. If it is not installed, they are unknown.
    """
    tool = get_measures(context.pair.language).mutation
    had_passing_test = context.assignment.task.track in (Track.UPDATE, Track.EXTENSION)
    if not had_passing_test or tool is None or not tool.is_installed():
        return dict.fromkeys(gold, MutantSet())
    old, new = replace(runner, tests=(), end=PairEnd.OLD), replace(runner, tests=())
    oracle_mutants = find_old_kills(
        old, new, {name: gold_method.row for name, gold_method in gold.items()}, cache_folder
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
    """Run the tests with the released mutants and those that the old test kills, all at once."""
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
    """Return the smells of a submitted test; `not_offered` alone if the language detects none.

    Empty if another file, out of reach, declares the test.
    """
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


# File, start line, kind of change and declaration of a part of the change, undone in one way.
Change = tuple[str, int, str, str]
# The same without the declaration, which says in which way it is undone.
Place = tuple[str, int, str]
Key = TypeVar('Key')


def select_released_mutants(gold: GoldMethod) -> MutantSet:
    """Return the mutants that a gold test was run with; none if gold did not pass by itself."""
    return MutantSet(
        mutants=tuple(
            DrawnMutant(
                mutant_id=row.mutant_id,
                file=row.file,
                mutant=Mutant(line=row.line, original=row.original, mutated=row.mutated),
                equal_compiled=row.equal_compiled,
            )
            for row in gold.mutants
            if row.killed is not None
        )
    )


def count_mutant_kills(gold: GoldMethod, pred: Iterable[MutantRow]) -> Detections | None:
    """Count the mutants that both tests were run with.

    None if there is no measurement: gold has none, or the submitted test did not pass three times.
    """
    return _count_detections(_map_mutant_outcomes(gold.mutants), _map_mutant_outcomes(pred))


def count_noticed_undos(gold: GoldMethod, pred: Iterable[ReversalRow]) -> Detections | None:
    """Count the undone changes that compile and that both tests were run with.

    A change may be undone in several ways, such as by several plain values. It is noticed if one of
    them is. For `both_ran` the submitted test has to fail with all those with which gold fails,
    since a test that checks little notices one of them by chance. None if there is no such change.
    """
    gold_outcomes, submitted_outcomes = (
        _map_undone_outcomes(rows) for rows in (gold.reversals, pred)
    )
    own = {
        change: outcome for change, outcome in submitted_outcomes.items() if change in gold_outcomes
    }
    places = _group_by_place(own)
    if not places:
        return None
    ran = {
        declaration: [change for change in changes if gold_outcomes[change] in RUN_AND_BROKEN]
        for declaration, changes in places.items()
    }
    return Detections(
        count=len(places),
        pred=_count_places(places, lambda change: _is_noticed(own[change])),
        gold=_count_places(places, lambda change: _is_noticed(gold_outcomes[change])),
        both=_count_places(
            places, lambda change: _is_noticed(own[change]) and _is_noticed(gold_outcomes[change])
        ),
        not_run=len(_group_by_place(gold_outcomes).keys() - places.keys()),
        gold_ran=sum(map(bool, ran.values())),
        both_ran=sum(
            bool(changes) and all(own[change] in RUN_AND_BROKEN for change in changes)
            for changes in ran.values()
        ),
    )


def _group_by_place(changes: Iterable[Change]) -> dict[Place, list[Change]]:
    """Return the ways in which each declaration is undone."""
    by_place: dict[Place, list[Change]] = {}
    for change in changes:
        by_place.setdefault(change[:3], []).append(change)
    return by_place


def _count_places(
    places: Mapping[Place, Sequence[Change]], is_counted: Callable[[Change], bool]
) -> int:
    return sum(any(map(is_counted, changes)) for changes in places.values())


def _count_detections(
    gold: Mapping[Key, Outcome], pred: Mapping[Key, Outcome]
) -> Detections | None:
    """Count the edits that both tests were run with, and those that each of them notices.

    None if the submitted test was run with none of gold's edits.
    """
    own = {key: outcome for key, outcome in pred.items() if key in gold}
    if not own:
        return None
    ran = {key for key in own if gold[key] in RUN_AND_BROKEN}
    return Detections(
        count=len(own),
        pred=sum(map(_is_noticed, own.values())),
        gold=sum(_is_noticed(gold[key]) for key in own),
        both=sum(
            _is_noticed(own_outcome) and _is_noticed(gold[key]) for key, own_outcome in own.items()
        ),
        not_run=len(gold) - len(own),
        gold_ran=len(ran),
        both_ran=sum(own[key] in RUN_AND_BROKEN for key in ran),
    )


def _is_noticed(outcome: Outcome) -> bool:
    return outcome is not Outcome.PASS


def list_undoable_changes(gold: GoldMethod) -> frozenset[Change]:
    """Return the keys of the changes that were undone, each alone, in a run of gold.

    Changes that did not compile without that part, or were not run, are left out.
    """
    return frozenset(_map_undone_outcomes(gold.reversals))


def _map_undone_outcomes(rows: Iterable[ReversalRow]) -> dict[Change, Outcome]:
    """Return the outcome of a test with each change that could be undone."""
    return {
        _make_change_key(row): row.outcome
        for row in rows
        if row.status in (ReversalStatus.DETECTED, ReversalStatus.UNDETECTED)
        and row.outcome is not None
    }


def _map_mutant_outcomes(rows: Iterable[MutantRow]) -> dict[str, Outcome]:
    return {row.mutant_id: row.outcome for row in rows if row.outcome is not None}


def _make_change_key(one: ReversalRow) -> Change:
    return one.file, one.start_line, one.revised, one.declaration


def find_noticed_dependencies(
    dependencies: Iterable[Dependency],
    mutants: Iterable[MutantRow],
    reversals: Iterable[ReversalRow],
) -> tuple[Dependency, ...]:
    """Return the changed declarations with a killed mutant or a noticed undone part."""
    killed = {(row.file, row.line) for row in mutants if row.killed}
    undone = {
        row[:2] for row, outcome in _map_undone_outcomes(reversals).items() if _is_noticed(outcome)
    }
    return tuple(
        dependency
        for dependency in dependencies
        if any(_contains_line(dependency, *at) for at in killed | undone)
    )


def find_failing_edit(
    runner: EditedCellRunner,
    gold: GoldMethod,
    mutants: Sequence[MutantRow],
    reversals: Iterable[ReversalRow],
) -> Edit | None:
    """Return an edit with which a test ran and did not pass; None if there is none.

    Edits with which gold ran and failed, too, come first. Compile errors do not count, since the
    compiler says the same each time.
    """
    failed = _list_failing_keys(reversals)
    failed = failed & _list_failing_keys(gold.reversals) or failed
    for dependency in gold.row.dependencies if failed else ():
        for part in list_undoable_parts(runner.repository, runner.pair, dependency):
            for version in part.select_versions(failed).versions:
                return version.edit
    killed = [row for row in mutants if row.outcome in RUN_AND_BROKEN]
    by_gold = {row.mutant_id for row in gold.mutants if row.outcome in RUN_AND_BROKEN}
    for row in sorted(killed, key=lambda row: row.mutant_id not in by_gold):
        source = runner.repository.blob(runner.repository.tree(runner.rev)[row.file].oid)
        mutant = Mutant(line=row.line, original=row.original, mutated=row.mutated)
        return row.file, mutant.apply_to(source)
    return None


def _list_failing_keys(rows: Iterable[ReversalRow]) -> set[Change]:
    return {_make_change_key(row) for row in rows if row.outcome in RUN_AND_BROKEN}


def _contains_line(one: Dependency, file: str, line: int) -> bool:
    return one.file == file and one.start_line <= line <= one.end_line
