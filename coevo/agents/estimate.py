"""Estimate what the attempts of the one-shot baseline will cost, before the first is made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from coevo.agents import one_shot
from coevo.agents.costs import PriceTable, Usage
from coevo.agents.templates import PromptTemplate, compose_task_question
from coevo.evaluation.checkout import open_task_repository
from coevo.evaluation.judging.start_states import StartStateLost, restore_start_file
from coevo.evaluation.reporting.cells import pluralise
from coevo.git.clones import NoRepository
from coevo.git.repository import Repository, load_content
from coevo.model.errors import Fatal
from coevo.model.task_rows import TaskRow


@dataclass(frozen=True, slots=True, kw_only=True)
class CostEstimate:
    """Estimated tokens of one attempt at each task; an answer is assumed to be as long as gold.

    attempts  the most attempts at each task
    cost_usd  US dollars of one attempt at each task; None without prices
    """

    tasks: int
    attempts: int
    input: int
    output: int
    cost_usd: float | None

    @property
    def sentence(self) -> str:
        """The estimate as a line for the user, for all attempts."""
        times = '' if self.attempts == 1 else f', at most {self.attempts} attempts each'
        tokens = f'about {self.attempts * self.input:,} tokens in and {self.attempts * self.output:,} out'
        cost = '' if self.cost_usd is None else f', ${self.attempts * self.cost_usd:.2f}'
        return f'estimate: {pluralise(self.tasks, "task")}{times}, {tokens}{cost}'


def estimate_attempts(
    tasks: Sequence[TaskRow],
    *,
    attempts: int,
    model: str,
    clones: Path | None,
    prices: PriceTable | None,
    template: PromptTemplate | None = None,
) -> CostEstimate:
    """Return the estimate for these tasks; a task without a start state costs nothing.

    Raises: Fatal if a repository is not available, or the price table lacks the model.
    """
    by_repository: Mapping[str, list[TaskRow]] = defaultdict(list)
    for task in tasks:
        by_repository[task.repo].append(task)
    token_counts: list[tuple[int, int]] = []
    for some in by_repository.values():
        try:
            with open_task_repository(some, clones) as repository:
                token_counts += [
                    _estimate_input_and_output_tokens(repository, task, template) for task in some
                ]
        except NoRepository as error:
            raise Fatal(str(error)) from None
    sums = [sum(column) for column in zip(*token_counts, strict=True)] or [0, 0]
    usage = Usage(model=model, input=sums[0], output=sums[1])
    return CostEstimate(
        tasks=len(tasks),
        attempts=attempts,
        input=usage.input,
        output=usage.output,
        cost_usd=prices.compute_cost(usage) if prices else None,
    )


def _estimate_input_and_output_tokens(
    repository: Repository, task: TaskRow, template: PromptTemplate | None
) -> tuple[int, int]:
    try:
        start = restore_start_file(repository, task)
        prompt = _compose_prompt(repository, task, start, template)
    except StartStateLost:
        return 0, 0
    gold = load_content(repository, task.new_rev, task.test_file) or b''
    return one_shot.estimate_tokens(prompt), one_shot.estimate_tokens(
        gold.decode('utf-8', 'replace')
    )


def _compose_prompt(
    repository: Repository, task: TaskRow, start: bytes | None, template: PromptTemplate | None
) -> str:
    if template is not None:
        return ''.join(message.content for message in template.fill(repository, task))
    return compose_task_question(repository, task, start)
