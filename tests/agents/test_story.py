"""From prompt to report: an agent stand-in, a real model server, kill, resume, evaluation."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow.parquet as pq
import pytest

from coevo.command.main import main
from tests.agents import story
from tests.agents.story import Told
from tests.folders import open_folder

# Ten tasks are mined, attempted and scored within the first test's time.
pytestmark = [pytest.mark.jvm, pytest.mark.timeout(1200)]


@pytest.fixture(
    scope='module',
    params=[pytest.param(count, marks=pytest.mark.slow) for count in (3, 10)],
)
def told(request: pytest.FixtureRequest) -> Iterator[Told]:
    with open_folder() as folder:
        yield story.tell(folder, request.param)


def test_every_task_gets_a_prediction_with_its_exit_status(told: Told) -> None:
    endings = {task: row['exit_status'] for task, row in told.predictions.items()}
    tasks = {task.task_id for task in told.errands.tasks}
    assert endings == {**dict.fromkeys(tasks, 'completed'), told.costly: 'cost_cap'}
    assert {row['harness'] for row in told.predictions.values()} == {'stand-in'}
    assert {row['model'] for row in told.predictions.values()} == {'stand-in-1'}


def test_model_receives_the_text_that_coevo_prompt_prints(
    told: Told, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    for task_id, prompt in told.prompts.items():
        assert main(['prompt', str(told.errands.snapshot), task_id]) == 0
        assert capfdbinary.readouterr().out.decode() == prompt
    assert told.prompts.keys() == told.predictions.keys()


def test_patch_of_an_agent_that_writes_gold_equals_gold(told: Told) -> None:
    for task in told.errands.tasks:
        if task.task_id != told.costly:
            assert told.predictions[task.task_id]['patch'] == task.test_patch


def test_cost_cap_is_checked_before_each_round(told: Told) -> None:
    """Four rounds at 0.2 dollars: the fourth is the one that reaches 0.7."""
    row = told.predictions[told.costly]
    assert (row['cost_usd'], row['tokens']) == (0.8, 4400)
    assert '<!-- half -->' in row['patch']


def test_attempts_finished_before_a_kill_are_not_repeated(told: Told) -> None:
    assert told.finished_before == set(told.before) - {told.killed}
    assert told.costly in told.finished_before
    assert not {task for task in told.finished_before if told.after.get(task)}
    assert told.before[told.killed] == 1
    assert told.after[told.killed] == 2


def test_interrupted_round_is_billed_but_counts_in_no_prediction(told: Told) -> None:
    costs = sum(row['cost_usd'] for row in told.predictions.values())
    assert told.report['cost_usd'] == pytest.approx(costs)
    assert told.report['billed_usd'] == pytest.approx(costs + 0.2)


def test_report_states_the_network_access_and_the_endings(told: Told) -> None:
    assert 'alone, by a relay outside of the sandbox' in told.report['network']
    assert told.report['endings'] == {'completed': len(told.predictions) - 1, 'cost_cap': 1}


def test_evaluation_scores_gold_as_success_and_a_foreign_file_edit_as_failure(told: Told) -> None:
    rows = pq.read_table(told.evaluation / 'results.parquet').to_pylist()
    outcomes = {row['task_id']: row['outcome'] for row in rows}
    tasks = set(told.predictions)
    assert outcomes == {**dict.fromkeys(tasks, 'success'), told.costly: 'hrns_fail'}
    assert {row['exit_status'] for row in rows} == {'completed', 'cost_cap'}
    details = {row['task_id']: row['detail'] for row in rows}
    assert details == {**dict.fromkeys(tasks), told.costly: 'other_file'}


def test_agent_can_run_maven_tests_offline_in_its_sandbox(told: Told) -> None:
    assert 'BUILD SUCCESS' in told.tested
    assert 'Tests run:' in told.tested
