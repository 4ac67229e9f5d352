"""Which released mutants and undone changes a submitted test notices, counted beside gold's.

A test is run as gold was, in a fresh process each time: with each mutant, after it has passed three
times as it stands. Only what was run for gold counts, so that both have one denominator (TestEvo-Bench, A.5).

Who submits a test gains by failing here, which needs no forgery; a pass that is forged is a mutant
that lives. So these runs are not observed. Who fails for the edit's sake alone is found out by edits
of no effect (`coevo.evaluation.judging.placebos`), one for each declaration in which it gained so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.worth import Detections
from coevo.languages.mutation import Mutant
from coevo.measures.edited_cells import RUN_AND_BROKEN, EditedCellRunner
from coevo.measures.mutant_sets import DrawnMutant, MutantSet
from coevo.measures.parts import Edit, list_undoable_parts
from coevo.model.dependencies import Dependency
from coevo.model.quality import MutantRow, ReversalRow, ReversalStatus
from coevo.model.words import Outcome

Change = tuple[str, int, str, str]
Key = TypeVar('Key')


def select_released_mutants(gold: GoldMethod) -> MutantSet:
    """The mutants of a method that gold was run against; none where gold did not pass by itself."""
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
    """None where there is no measurement: gold has none, or the test did not pass three times."""
    return _count_detections(_map_mutant_outcomes(gold.mutants), _map_mutant_outcomes(pred))


def count_noticed_undos(gold: GoldMethod, pred: Iterable[ReversalRow]) -> Detections | None:
    """Of what compiles when it is undone; None where gold was not asked about any such."""
    return _count_detections(_map_undone_outcomes(gold.reversals), _map_undone_outcomes(pred))


def _count_detections(
    gold: Mapping[Key, Outcome], pred: Mapping[Key, Outcome]
) -> Detections | None:
    """Of what gold was run with; None where the test was run with nothing of it."""
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
    """What gold was run without."""
    return frozenset(_map_undone_outcomes(gold.reversals))


def _map_undone_outcomes(rows: Iterable[ReversalRow]) -> dict[Change, Outcome]:
    """What a test did with each change undone that could be."""
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
    """The changed declarations of which a mutant was killed, or a part was missed when undone."""
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
    dependencies: Iterable[Dependency],
    mutants: Iterable[MutantRow],
    reversals: Iterable[ReversalRow],
) -> Edit | None:
    """An edit with which a test ran and did not pass; None where there is none, or the compiler
    alone said so, which says the same each time."""
    failed = {_make_change_key(row) for row in reversals if row.outcome in RUN_AND_BROKEN}
    for dependency in dependencies if failed else ():
        for part in list_undoable_parts(runner.repository, runner.pair, dependency):
            if part.key in failed and part.edit is not None:
                return part.edit
    for row in mutants:
        if row.outcome in RUN_AND_BROKEN:
            source = runner.repository.blob(runner.repository.tree(runner.rev)[row.file].oid)
            mutant = Mutant(line=row.line, original=row.original, mutated=row.mutated)
            return row.file, mutant.apply_to(source)
    return None


def _contains_line(one: Dependency, file: str, line: int) -> bool:
    return one.file == file and one.start_line <= line <= one.end_line
