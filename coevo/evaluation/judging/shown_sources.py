"""Which main sources lie beside submitted tests: none, so that none can be about their text.

Where gold itself fails without the sources, all cells of the task have the same text, that of the new
revision, whatever their code or its edits are. Mining asked gold; of a snapshot of before, which does
not say, it is asked here.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo import codec
from coevo.evaluation.judging.trial import Trial
from coevo.evaluation.ledger import Ledger
from coevo.languages.base import MainSources
from coevo.source_readers import NO_SOURCES
from coevo.source_readers import reads_sources
from coevo.swapped import Bench

_WHAT = 'sources'


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    needed: bool


def shown_sources(trial: Trial, ledger: Ledger | None) -> tuple[MainSources, float]:
    """The sources for all cells of a task, and the CPU seconds that it took to find out; Transient."""
    needed, cpu_seconds = trial.assignment.task.reads_sources, 0.0
    if needed is None:
        needed, cpu_seconds = _known(trial, ledger)
    return MainSources(rev=trial.pair.new.rev) if needed else NO_SOURCES, cpu_seconds


def _known(trial: Trial, ledger: Ledger | None) -> tuple[bool, float]:
    """Asked of gold once for a task, where there is a ledger; both ends were built."""
    data = ledger.read(trial.assignment, _WHAT) if ledger is not None else None
    if data is not None:
        return codec.decode(_Entry, data).needed, 0.0
    needed, cpu_seconds = _asked(trial)
    if ledger is not None:
        ledger.write(codec.encode(_Entry(needed=needed)), trial.assignment, _WHAT)
    return needed, cpu_seconds


def _asked(trial: Trial) -> tuple[bool, float]:
    """In a cell that no submission sees."""
    bench = Bench(
        workshop=trial.workshop,
        pair=trial.pair,
        repository=trial.repository,
        conditions=trial.conditions,
    )
    new = trial.pair.new.rev
    gold = ((trial.assignment.task.test_file, trial.gold),)
    compiled = bench.compile(new, new, trial.module, gold)
    methods = {target.name: target.method for target in trial.assignment.targets}
    return reads_sources(bench, compiled, methods), bench.cpu_seconds
