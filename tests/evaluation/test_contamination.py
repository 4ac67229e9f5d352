"""The estimate of contamination beside a truth that is known, and what the verb says of real files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.contamination import (
    AttemptedTask,
    ContaminationEstimate,
    CutoffSplit,
    count_changed_lines,
    describe_contamination,
    estimate_contamination,
)
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.results import write_results
from coevo.git.patches import make_file_patch
from coevo.snapshots import snapshot
from tests import snapshots
from tests.evaluation.made_up_agents import CUTOFF, World, results
from tests.evaluation.rows import row
from tests.settings_files import settings

WORLDS = 12


def estimated(world: World) -> ContaminationEstimate:
    return estimate_contamination(results(world), CutoffSplit(moment=CUTOFF))


@pytest.mark.slow
def test_estimate_recovers_the_true_gain_within_its_interval() -> None:
    """The truth lies in the intervals as often as they promise; the plain difference is off by the same each time."""
    for gain in (0.0, 0.2):
        found = [estimated(World(gain=gain, seed=seed)) for seed in range(WORLDS)]
        values = [one.effect.difference for one in found if one.effect.difference is not None]
        assert math.fsum(values) / WORLDS == pytest.approx(gain, abs=0.02)
        inside = sum((one.effect.low or 0) <= gain <= (one.effect.high or 0) for one in found)
        assert inside >= WORLDS - 2
        plain = [one.unmatched for one in found if one.unmatched is not None]
        assert math.fsum(plain) / WORLDS > gain + 0.05
        clear = sum(one.effect.is_clear for one in found)
        assert clear <= 2 if gain == 0 else clear == WORLDS
        assert sum(one.clear_placebo_count for one in found) <= 0.15 * 6 * WORLDS


@pytest.mark.slow
def test_drift_over_time_shows_at_placebo_cutoffs() -> None:
    found = [estimated(World(gain=0.0, drift=0.6, seed=seed)) for seed in range(WORLDS)]
    assert all(one.effect.is_clear for one in found)
    assert sum(one.clear_placebo_count > 1 for one in found) >= WORLDS - 1
    said = '\n'.join(describe_contamination(found[0], '2024-06-30'))
    assert 'no evidence of contamination' in said


def test_description_states_whether_there_is_contamination() -> None:
    said = '\n'.join(describe_contamination(estimated(World(gain=0.3)), '2024-06-30'))
    assert 'Contamination would look like this' in said
    said = '\n'.join(describe_contamination(estimated(World(gain=0.0)), '2024-06-30'))
    assert 'does not solve tasks from before the cutoff more often' in said


def test_estimate_equals_the_hand_computed_mean_over_strata() -> None:
    tasks = results(World(gain=0.1, repositories=5))
    strata = defaultdict(lambda: ([], []))  # type: ignore[var-annotated]
    for task in tasks:
        assert task.date is not None
        size = math.floor(math.log2(max(task.changed_lines, 1)) / 2)
        strata[task.repo, task.family, size][task.date >= CUTOFF].append(task.success)
    points = weight = 0.0
    for before, after in strata.values():
        if before and after:
            one = len(before) * len(after) / (len(before) + len(after))
            points += one * (sum(before) / len(before) - sum(after) / len(after))
            weight += one
    found = estimate_contamination(tasks, CutoffSplit(moment=CUTOFF)).effect
    assert found.difference == pytest.approx(points / weight)
    assert estimate_contamination(tasks[::-1], CutoffSplit(moment=CUTOFF)).effect == found


def one(
    number: int, days: int, success: float, repo: str = 'a/b', date: bool = True
) -> AttemptedTask:
    return AttemptedTask(
        task_id=str(number),
        repo=repo,
        family='update',
        changed_lines=4,
        date=CUTOFF + timedelta(days=days) if date else None,
        success=success,
    )


def test_undated_tasks_and_tasks_within_the_margin_are_left_out() -> None:
    tasks = [one(1, -40, 1), one(2, -1, 0), one(3, 0, 1), one(4, 40, 0), one(5, 0, 1, date=False)]
    assert estimate_contamination(
        tasks, CutoffSplit(moment=CUTOFF)
    ).effect.difference == pytest.approx(0.0)
    far = estimate_contamination(tasks, CutoffSplit(moment=CUTOFF, margin=timedelta(days=30)))
    assert (far.effect.difference, far.effect.before, far.effect.after) == (1.0, 1, 1)
    assert (far.dated, far.undated, far.effect.low) == (4, 1, None)


def test_no_effect_is_stated_without_comparable_tasks() -> None:
    found = estimate_contamination([one(1, -1, 1), one(2, 1, 0, 'c/d')], CutoffSplit(moment=CUTOFF))
    assert (found.effect.difference, found.effect.repositories, found.unmatched) == (None, 0, 1.0)
    assert 'there is no estimate' in '\n'.join(describe_contamination(found, '2024-06-30'))
    assert estimate_contamination([], CutoffSplit(moment=CUTOFF)).effect.difference is None


def test_changed_lines_of_a_patch_exclude_its_header() -> None:
    patch = make_file_patch('a.txt', b'one\n-- two\n', b'one\n++ three\nfour\n')
    assert count_changed_lines(patch) == 3


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot, and results of its tasks: each before the day in the middle succeeds, no other does."""
    folder = tmp_path_factory.mktemp('contamination')
    place = snapshots.make(folder, 2, 3, 4, 5)
    sha256 = hashlib.sha256((place / 'manifest.json').read_bytes()).hexdigest()
    tasks = (
        snapshot.open_snapshots(place)
        .execute('SELECT task_id, repo FROM tasks ORDER BY ALL')
        .fetchall()
    )
    day = datetime(2024, 6, 1, tzinfo=UTC)
    rows = [
        row(
            task_id,
            outcome=TaskOutcome.EXEC_FAIL if number % 2 else TaskOutcome.SUCCESS,
            repo=repo,
            model='m',
            model_cutoff='2024-06',
            contamination_date=day + timedelta(days=60 * (number % 2)),
            snapshot_sha256=sha256,
        )
        for number, (task_id, repo) in enumerate(tasks)
    ]
    write_results(folder / 'results', rows)
    return folder


def asked(made: Path, *words: str) -> int:
    return main(['report', 'contamination', str(made / 'snapshot'), str(made / 'results'), *words])


@pytest.mark.slow
def test_contamination_command_prints_text_or_json(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sized = settings(made, match_size=False)
    assert asked(made) == 0
    said = capsys.readouterr().out
    assert 'cutoff 2024-06\n' in said
    assert '+100.0' in said
    assert asked(made, '--format', 'json', '--cutoff', '2024-06-15', *sized) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found['cutoff'], found['effect']['difference']) == ('2024-06-15', 1.0)
    assert found['effect']['moment'] == '2024-06-16T00:00:00+00:00'


@pytest.mark.parametrize(
    ('words', 'complaint'),
    [
        (('--cutoff', 'June'), "'June' is no cutoff"),
        ({'margin_days': -1}, 'margin_days is -1; it must be 0 or more'),
        ({'margin_days': 99999}, 'margin_days must be 36500 or less'),
    ],
)
def test_bad_options_are_refused(
    made: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...] | dict[str, object],
    complaint: str,
) -> None:
    given = settings(made, **words) if isinstance(words, dict) else words
    assert asked(made, *given) == 2
    assert complaint in capsys.readouterr().err


def test_results_of_another_snapshot_or_without_its_tasks_are_refused(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(**changed: str | None) -> str:
        sha256 = hashlib.sha256((made / 'snapshot' / 'manifest.json').read_bytes()).hexdigest()
        values = {'snapshot_sha256': sha256, 'model': 'm', **changed}
        write_results(tmp_path, [dataclasses.replace(row('x'), **values)])  # type: ignore[arg-type]
        assert main(['report', 'contamination', str(made / 'snapshot'), str(tmp_path)]) == 2
        return capsys.readouterr().err

    assert 'scores another snapshot' in refused(snapshot_sha256='f' * 64)
    assert 'has no task' in refused()
