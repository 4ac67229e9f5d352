"""How far back a repository is mined follows its tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.model.profiles import load_profile
from coevo.storage.store import Store
from coevo.storage.walks import BudgetOutcome
from flows import budgets, pipeline
from flows.budgets import Yield, decide_budget
from flows.missing_pairs import MineReport
from flows.pipeline import mine
from tests.languages import toys
from tests.projects import options, write

NOTHING = Yield(tasks=0, cpu_seconds=0)
PROFILE = replace(load_profile('default'), measure_runs=0)


@pytest.mark.parametrize(
    ('commits', 'visited', 'total', 'step', 'outcome'),
    [
        (25, 25, Yield(tasks=2, cpu_seconds=60), NOTHING, BudgetOutcome.DEEPER),
        (25, 25, Yield(tasks=2, cpu_seconds=61), NOTHING, BudgetOutcome.DEAR),
        (25, 25, Yield(tasks=0, cpu_seconds=59), NOTHING, BudgetOutcome.DEEPER),
        (25, 25, Yield(tasks=0, cpu_seconds=60), NOTHING, BudgetOutcome.WAITS),
        (
            50,
            50,
            Yield(tasks=9, cpu_seconds=90),
            Yield(tasks=0, cpu_seconds=60),
            BudgetOutcome.WAITS,
        ),
        (50, 49, Yield(tasks=2, cpu_seconds=9), NOTHING, BudgetOutcome.END),
        (3200, 3200, Yield(tasks=2, cpu_seconds=9), NOTHING, BudgetOutcome.END),
    ],
)
def test_outcome_follows_from_tasks_and_recorded_seconds(
    commits: int, visited: int, total: Yield, step: Yield, outcome: BudgetOutcome
) -> None:
    budget = decide_budget(commits, visited, total=total, step=step)
    assert budget.outcome is outcome
    assert (budget.commits, budget.tasks, budget.rule) == (commits, total.tasks, budgets.RULE)


@pytest.fixture(scope='module')
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    steps = [
        {
            **toys.BUILD,
            **toys.source('Till', f'price: {price}'),
            **toys.tests('Till', f'follows: is Till.price {price}'),
        }
        for price in range(1, 6)
    ]
    return write(tmp_path_factory.mktemp('shop') / 'repository', steps)


def mine_by_tasks(repository: Path, store: Path, *, again: bool = False) -> MineReport:
    plain = options(repository, store, profile=PROFILE)
    return mine(replace(plain, by_tasks=True, measures=False, again=again))


def find_outcome(store: Path) -> tuple[int, int, BudgetOutcome] | None:
    (partition,) = Store(store).list_partitions()
    budget = Store(store).load_walk(partition).budget
    return budget and (budget.commits, budget.tasks, budget.outcome)


@pytest.mark.usefixtures('toy')
def test_cheap_tasks_take_a_walk_to_its_end_in_steps(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, 'FIRST_COMMITS', 2)
    report = mine_by_tasks(repository, tmp_path / 'store')
    assert (report.visited, report.executed, report.tasks, report.reused) == (5, 4, 4, 0)
    assert find_outcome(tmp_path / 'store') == (8, 4, BudgetOutcome.END)
    again = mine_by_tasks(repository, tmp_path / 'store')
    assert (again.executed, again.reused) == (0, 4)
    assert find_outcome(tmp_path / 'store') == (8, 4, BudgetOutcome.END)

    # Each pair is repeated once, also those that only a later step reaches.
    repeated = mine_by_tasks(repository, tmp_path / 'store', again=True)
    assert (repeated.executed, repeated.reused) == (4, 0)
    (partition,) = Store(tmp_path / 'store').list_partitions()
    counts = dict(Store(tmp_path / 'store').load_walk(partition).again)
    assert sorted(counts.values()) == [1, 1, 1, 1]


@pytest.mark.usefixtures('toy')
def test_walk_stops_where_tasks_are_dear_and_resumes_to_the_same_depth(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / 'store'
    mine(replace(options(repository, store, profile=PROFILE), measures=False))
    monkeypatch.setattr(pipeline, 'FIRST_COMMITS', 2)
    monkeypatch.setattr(budgets, 'WORTHWHILE_SECONDS', 0.0)
    report = mine_by_tasks(repository, store)
    assert (report.visited, report.executed, report.reused) == (2, 0, 2)
    assert find_outcome(store) == (2, 2, BudgetOutcome.DEAR)


def test_dry_run_by_tasks_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ['mine', str(tmp_path), '--store', str(tmp_path / 's'), '--dry']
    assert main([*arguments, '--commits', 'by-tasks']) == 2
    assert 'give --commits a number' in capsys.readouterr().err
