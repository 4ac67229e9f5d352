"""What the attempts of the one-shot baseline are going to cost, before the first of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.agents import one_shot
from coevo.agents.prices import Prices
from coevo.agents.templates import Template
from coevo.agents.usage import Usage
from coevo.evaluation.clones import NoRepository
from coevo.evaluation.clones import repository_of
from coevo.evaluation.judging.start_states import StartStateLost
from coevo.evaluation.judging.start_states import start_file
from coevo.evaluation.reporting.cells import plural
from coevo.git.contents import content
from coevo.git.repository import Repository
from coevo.model.errors import Fatal
from coevo.model.task_rows import TaskRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """Tokens of one attempt at each task, by a rule of thumb; the answer is taken to be as long as gold.

    cost_usd  None without prices
    """

    tasks: int
    attempts: int
    input: int
    output: int
    cost_usd: float | None

    @property
    def sentence(self) -> str:
        times = '' if self.attempts == 1 else f', at most {self.attempts} attempts each'
        tokens = f'about {self.attempts * self.input:,} tokens in and {self.attempts * self.output:,} out'
        cost = '' if self.cost_usd is None else f', ${self.attempts * self.cost_usd:.2f}'
        return f'estimate: {plural(self.tasks, "task")}{times}, {tokens}{cost}'


def estimate(
    tasks: Sequence[TaskRow],
    *,
    attempts: int,
    model: str,
    store: Path | None,
    prices: Prices | None,
    template: Template | None = None,
) -> Estimate:
    """Fatal where a repository cannot be had, or the table lacks the model. What has no start costs nothing."""
    by_repository: Mapping[str, list[TaskRow]] = defaultdict(list)
    for task in tasks:
        by_repository[task.repo].append(task)
    found: list[tuple[int, int]] = []
    for some in by_repository.values():
        try:
            with repository_of(some, store) as repository:
                found += [_of(repository, task, template) for task in some]
        except NoRepository as error:
            raise Fatal(str(error)) from None
    sums = [sum(column) for column in zip(*found, strict=True)] or [0, 0]
    usage = Usage(model=model, input=sums[0], output=sums[1])
    return Estimate(
        tasks=len(tasks),
        attempts=attempts,
        input=usage.input,
        output=usage.output,
        cost_usd=prices.cost(usage) if prices else None,
    )


def _of(repository: Repository, task: TaskRow, template: Template | None) -> tuple[int, int]:
    try:
        start = start_file(repository, task)
        asked = _asked(repository, task, start, template)
    except StartStateLost:
        return 0, 0
    gold = content(repository, task.new_rev, task.test_file) or b''
    return one_shot.tokens(asked), one_shot.tokens(gold.decode('utf-8', 'replace'))


def _asked(
    repository: Repository, task: TaskRow, start: bytes | None, template: Template | None
) -> str:
    if template is not None:
        return ''.join(one.content for one in template.filled(repository, task))

    def read(path: str) -> str | None:
        found = start if path == task.test_file else content(repository, task.new_rev, path)
        return None if found is None else found.decode('utf-8', 'replace')

    return one_shot.question(task.prompt or '', task.test_file, read)
