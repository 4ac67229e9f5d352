"""The main sources beside submitted tests: normally none, so that no test can read them.

If gold itself fails without the sources, all cells of the task get the same text, that of the new
revision, whatever code or edits they run on. The miner has tested that with gold. For older
snapshots, which do not say it, it is tested here.
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
    """Return the main sources beside the tests of a task, and the CPU seconds of the decision.

    They are those of the new revision if gold fails without them, else none.
    Raises: Transient if a test process does not start.
    """
    needed, runner = context.assignment.task.reads_sources, context.make_runner()

    def check_gold() -> _SourceNeed:
        """Return whether gold needs the sources.

        It runs in a cell that no submission sees; both ends are built.
        """
        methods = {target.name: target.method for target in context.assignment.targets}
        return _SourceNeed(needed=reads_sources(runner, context.compile_gold_cell(runner), methods))

    if needed is None:
        needed = recall_or_ask(ledger, context.assignment, (_WHAT,), _SourceNeed, check_gold).needed
    return MainSources(rev=context.pair.new.rev) if needed else NO_SOURCES, runner.cpu_seconds
