"""Which released mutants and undone changes a submitted test notices, counted beside gold's.

A test is run as gold was, in a fresh process each time: three times as it stands, then with each
mutant. Only what was run for gold counts, so that both have one denominator (TestEvo-Bench, A.5).

Who submits a test gains by failing here, which needs no forgery; a pass that is forged is a mutant
that lives. So these runs are not observed.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

from coevo.evaluation.measuring.gold import GoldMethod
from coevo.evaluation.records import MutantKills
from coevo.evaluation.records import Reversals
from coevo.measures.mutant_sets import DrawnMutant
from coevo.measures.mutant_sets import MutantSet
from coevo.measures.universal_mutator import Mutant
from coevo.quality import MutantRow
from coevo.quality import ReversalRow
from coevo.quality import ReversalStatus
from coevo.records import Dependency

Key = tuple[str, int, str, str]


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
            for row in _ran(gold.mutants)
        )
    )


def mutant_kills(gold: GoldMethod, pred: Iterable[MutantRow]) -> MutantKills | None:
    """None where there is no measurement: gold has none, or the test did not pass three times."""
    known = {row.mutant_id: row.killed for row in _ran(gold.mutants)}
    own = {row.mutant_id: row.killed for row in pred if row.mutant_id in known}
    told = {mutant_id: killed for mutant_id, killed in own.items() if killed is not None}
    if not told:
        return None
    return MutantKills(
        count=len(told),
        pred=sum(told.values()),
        gold=sum(bool(known[mutant_id]) for mutant_id in told),
        both=sum(killed and bool(known[mutant_id]) for mutant_id, killed in told.items()),
        not_run=len(known) - len(told),
    )


def reversals(gold: GoldMethod, pred: Sequence[ReversalRow]) -> Reversals | None:
    """Of what compiles when it is undone; None where gold was not asked about any such."""
    known = detections(gold.reversals)
    own = {key: found for key, found in detections(pred).items() if key in known}
    if not own:
        return None
    return Reversals(
        count=len(own),
        pred=sum(own.values()),
        gold=sum(known[key] for key in own),
        both=sum(found and known[key] for key, found in own.items()),
        not_run=len(known) - len(own),
    )


def undoable(gold: GoldMethod, dependencies: Iterable[Dependency]) -> tuple[Dependency, ...]:
    """Those that gold was run without."""
    known = detections(gold.reversals)
    return tuple(one for one in dependencies if _key(one) in known)


def detections(rows: Iterable[ReversalRow]) -> dict[Key, bool]:
    """Whether each change that could be undone was noticed."""
    return {
        _key(row): row.status is ReversalStatus.DETECTED
        for row in rows
        if row.status in (ReversalStatus.DETECTED, ReversalStatus.UNDETECTED)
    }


def _key(one: ReversalRow | Dependency) -> Key:
    return one.file, one.start_line, one.revised, one.declaration


def _ran(rows: Iterable[MutantRow]) -> list[MutantRow]:
    return [row for row in rows if row.killed is not None]
