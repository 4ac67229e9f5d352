"""That the old tests are broken on the new code: without that, a task asks for nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field

from coevo import codec
from coevo.evaluation.judging.submissions import located
from coevo.evaluation.judging.trial import Trial
from coevo.evaluation.ledger import Ledger
from coevo.records import Outcome
from coevo.swapped import Bench
from coevo.swapped import is_broken
from coevo.syntax import parse

_WHAT = 'precondition'


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """What the old tests do on the new code, by target; of those that the start file has."""

    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    cpu_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    name: str
    outcome: Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    kept: tuple[_Kept, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Preconditions:
    """Asked once for each task, however many predictions answer it, where there is a ledger."""

    ledger: Ledger | None = None

    def of(self, trial: Trial) -> Held:
        if trial.assignment.is_generation or trial.start is None:
            return Held()  # the targets are absent
        known = self._recall(trial)
        if known is not None:
            return known
        held = _told_on_new(trial, trial.start)
        if self.ledger is not None and all(one.broken for one in held.outcomes.values()):
            kept = (_Kept(name=name, outcome=one) for name, one in held.outcomes.items())
            data = codec.encode(_Entry(kept=tuple(kept)))
            self.ledger.write(data, trial.assignment, _WHAT)
        return held

    def _recall(self, trial: Trial) -> Held | None:
        data = self.ledger.read(trial.assignment, _WHAT) if self.ledger is not None else None
        if data is None:
            return None
        entry = codec.decode(_Entry, data)
        return Held(outcomes={kept.name: kept.outcome for kept in entry.kept})


def _told_on_new(trial: Trial, start: bytes) -> Held:
    file = parse(start)
    found = {
        target.name: located(file, target, target.method_at_start)
        for target in trial.assignment.targets
    }
    methods = {name: method for name, method in found.items() if method is not None}
    bench = Bench(
        workshop=trial.workshop,
        pair=trial.pair,
        repository=trial.repository,
        conditions=trial.conditions,
    )
    new = trial.pair.new.rev
    compiled = trial.workshop.compile(new, new, trial.module)
    verdicts = bench.verdicts(compiled, methods, is_broken)
    return Held(
        outcomes={name: verdict.outcome for name, verdict in verdicts.items()},
        cpu_seconds=bench.cpu_seconds + compiled.cpu_seconds,
    )
