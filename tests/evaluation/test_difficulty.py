"""Success by complexity and by length, counted by hand on a few rows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

import coevo
from coevo.command.main import main
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.reporting.difficulty import (
    Band,
    DifficultyReport,
    compute_difficulty,
    read_task_difficulties,
)
from coevo.evaluation.suites.records import SuiteOutcome
from coevo.model.families import SuiteAdequacy
from tests import snapshots
from tests.evaluation.rows import row
from tests.evaluation.test_families import suite


def table(*tasks: tuple[str, int | None, int | None]) -> pa.Table:
    names = ('task_id', 'complexity', 'lines')
    kinds = (pa.string(), pa.int64(), pa.int64())
    return pa.table(
        {name: pa.array([task[at] for task in tasks], kinds[at]) for at, name in enumerate(names)}
    )


def suites_of_four_bands() -> DifficultyReport:
    worth = SuiteAdequacy(
        tests=1, passing=1, lines=10, covered_lines=5, branches=4, covered_branches=1
    )
    rows = (
        suite(0, adequacy=worth),
        suite(1, SuiteOutcome.EXEC_FAIL),
        suite(2, adequacy=worth),
        suite(3, SuiteOutcome.INFRA),
        replace(suite(0, SuiteOutcome.EMPTY), attempt=2),
    )
    tasks = ((10, 24), (19, 25), (30, None), (9, 99))
    return compute_difficulty(
        table(*((f'{number:016x}', *task) for number, task in enumerate(tasks))), (), rows
    )


def test_tasks_are_in_the_band_of_their_figure_and_infra_and_later_attempts_nowhere() -> None:
    (part,) = suites_of_four_bands().parts
    assert part.part == 'class'
    assert [(each.band, each.tasks) for each in part.complexity] == [
        (Band.BRANCHED, 2),
        (Band.MOST_COMPLEX, 1),
    ]
    assert [(each.band, each.tasks) for each in part.lines] == [(Band.SHORT, 1), (Band.MEDIUM, 1)]
    assert (part.complexity_unknown, part.lines_unknown) == (0, 1)


def test_a_suite_without_a_passing_test_has_coverage_0() -> None:
    (part,) = suites_of_four_bands().parts
    branched = part.complexity[0]
    assert branched.success.value == 0.5
    assert branched.line_coverage.value == pytest.approx(0.25)
    assert branched.branch_coverage.value == pytest.approx(0.125)


def test_a_task_of_a_change_counts_by_the_share_of_its_targets() -> None:
    rows = (
        row('task1', 'a', TaskOutcome.SUCCESS),
        row('task1', 'b', TaskOutcome.EXEC_FAIL),
        row('task2', 'a', TaskOutcome.SUCCESS),
    )
    (part,) = compute_difficulty(table(('task1', 3, 100), ('task2', 3, 100)), rows).parts
    (simple,), (longest,) = part.complexity, part.lines
    assert (simple.band, simple.tasks, simple.success.value) == (Band.SIMPLE, 2, 0.75)
    assert longest.band is Band.LONGEST
    assert simple.line_coverage.value is None


def test_results_of_another_snapshot_are_bad_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = (
        snapshots.make(tmp_path / name, *numbers)
        for name, numbers in (('ours', (1, 2)), ('theirs', (1, 2, 3)))
    )
    coevo.evaluate(theirs, {}, out=tmp_path / 'results')
    assert main(['report', 'difficulty', str(theirs), str(tmp_path / 'results')]) == 0
    assert 'update' in capsys.readouterr().out
    assert main(['report', 'difficulty', str(ours), str(tmp_path / 'results')]) == 2
    assert 'name the snapshot that was evaluated' in capsys.readouterr().err
    assert read_task_difficulties(theirs).num_rows > read_task_difficulties(ours).num_rows
