"""Which main sources lie beside submitted tests: none, so that none can be about their text.

Where gold itself fails without the sources, all cells of the task have the same text, that of the new
revision, whatever their code or its edits are. Mining asked gold; of a snapshot of before, which does
not say, it is asked here.
"""

from __future__ import annotations

from dataclasses import dataclass

from coevo.evaluation.judging.memory import recall_or_ask
from coevo.evaluation.judging.task_context import TaskContext
from coevo.evaluation.ledger import Ledger
from coevo.languages.conditions import MainSources
from coevo.starts.source_readers import NO_SOURCES, reads_sources

_WHAT = 'sources'


@dataclass(frozen=True, slots=True, kw_only=True)
class _SourceNeed:
    needed: bool


def choose_shown_sources(context: TaskContext, ledger: Ledger | None) -> tuple[MainSources, float]:
    """The sources for all cells of a task, and the CPU seconds that it took to find out; Transient."""
    needed, runner = context.assignment.task.reads_sources, context.make_runner()

    def check_gold() -> _SourceNeed:
        """Of gold, in a cell that no submission sees; both ends were built."""
        methods = {target.name: target.method for target in context.assignment.targets}
        return _SourceNeed(needed=reads_sources(runner, context.compile_gold_cell(runner), methods))

    if needed is None:
        needed = recall_or_ask(ledger, context.assignment, (_WHAT,), _SourceNeed, check_gold).needed
    return MainSources(rev=context.pair.new.rev) if needed else NO_SOURCES, runner.cpu_seconds
