"""Which released mutants and undone changes a submitted test notices, counted beside gold's.

A test is run as gold was, in a fresh process each time: with each mutant, after it has passed three
times as it stands. Only what was run for gold counts, so that both have one denominator (TestEvo-Bench, A.5).

Who submits a test gains by failing here, which needs no forgery; a pass that is forged is a mutant
that lives. So these runs are not observed. Who fails for the edit's sake alone is found out by edits
of no effect (`coevo.evaluation.judging.placebos`), one for each declaration in which it gained so.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Mapping
from typing import TypeVar

from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.records import Detections
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.universal_mutator import Mutant
from coevo.quality import MutantRow
from coevo.quality import ReversalRow
from coevo.quality import ReversalStatus
from coevo.records import Dependency

Change = tuple[str, int, str, str]
Key = TypeVar('Key')


def released(gold: GoldMethod) -> MutantSet:
    """The mutants of a method that gold was run against; none where gold did not pass by itself."""
    return MutantSet(
        kept=tuple(
            DrawnMutant(
                mutant_id=row.mutant_id,
                file=row.file,
                mutant=Mutant(line=row.line, original=row.original, mutated=row.mutated),
                equal_byte_code=row.equal_byte_code,
            )
            for row in gold.mutants
            if row.killed is not None
        )
    )


def mutant_kills(gold: GoldMethod, pred: Iterable[MutantRow]) -> Detections | None:
    """None where there is no measurement: gold has none, or the test did not pass three times."""
    return _counted(_kills(gold.mutants), _kills(pred))


def reversals(gold: GoldMethod, pred: Iterable[ReversalRow]) -> Detections | None:
    """Of what compiles when it is undone; None where gold was not asked about any such."""
    return _counted(detections(gold.reversals), detections(pred))


def _counted(gold: Mapping[Key, bool], pred: Mapping[Key, bool]) -> Detections | None:
    """Of what gold was run with; None where the test was run with nothing of it."""
    own = {key: found for key, found in pred.items() if key in gold}
    if not own:
        return None
    return Detections(
        count=len(own),
        pred=sum(own.values()),
        gold=sum(gold[key] for key in own),
        both=sum(found and gold[key] for key, found in own.items()),
        not_run=len(gold) - len(own),
    )


def undoable(gold: GoldMethod) -> frozenset[Change]:
    """What gold was run without."""
    return frozenset(detections(gold.reversals))


def detections(rows: Iterable[ReversalRow]) -> dict[Change, bool]:
    """Whether each change that could be undone was noticed."""
    return {
        _key(row): row.status is ReversalStatus.DETECTED
        for row in rows
        if row.status in (ReversalStatus.DETECTED, ReversalStatus.UNDETECTED)
    }


def _key(one: ReversalRow) -> Change:
    return one.file, one.start_line, one.revised, one.declaration


def noticed_in(
    dependencies: Iterable[Dependency],
    mutants: Iterable[MutantRow],
    reversals: Iterable[ReversalRow],
) -> tuple[Dependency, ...]:
    """The changed declarations of which a mutant was killed, or a part was missed when undone."""
    killed = {(row.file, row.line) for row in mutants if row.killed}
    undone = {(row[0], row[1]) for row, missed in detections(reversals).items() if missed}
    return tuple(one for one in dependencies if any(_holds(one, *at) for at in killed | undone))


def _holds(one: Dependency, file: str, line: int) -> bool:
    return one.file == file and one.start_line <= line <= one.end_line


def _kills(rows: Iterable[MutantRow]) -> dict[str, bool]:
    return {row.mutant_id: row.killed for row in rows if row.killed is not None}
