"""What the leaderboard counts under a cutoff is what a report of the same rows says."""

from __future__ import annotations

import dataclasses
import io
import json
import random
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.evaluation.reporting.report import make_report
from coevo.model.words import Track
from coevo.snapshots.cutoffs import compute_first_clean_moment
from packagers.site import folder
from packagers.site.months import encode_scores
from tests.evaluation.rows import ADEQUACY, row

WEB = Path(folder.__file__).parent / 'web' / 'src'
ASK = """
import { readFileSync } from 'node:fs'
const [folder] = process.argv.slice(1)
const { counted, limits, ranks, scored, setOf } = await import(`${folder}/scores.js`)
const { rows, reports, choices } = JSON.parse(readFileSync(0, 'utf8'))
rows.length = rows.task_id.length
console.log(JSON.stringify(choices.map(choice => {
  const days = limits(reports, choice)
  const found = reports.map((_, i) => {
    if (days[i].why) return { why: days[i].why }
    const numbers = counted(rows, i, 'generation', days[i].day)
    return { ...scored(rows, numbers), day: days[i].day, set: setOf(rows, numbers) }
  })
  const same = found.filter(one => one.set && one.set === found[0].set)
  return { found, ranks: ranks(same, 'strict') }
})))
"""


def generated(seed: int, model_cutoff: str | None, luck: float) -> list[MethodResult]:
    """Three methods in each of 60 tasks of eight repositories, by lot."""
    lot = random.Random(seed)
    tasks = random.Random(0)
    found = []
    for number in range(60):
        year, month = 2023 + number % 3, 1 + number % 12
        date = datetime(year, month, 28, 23, 59, tzinfo=UTC) if number % 7 else None
        repo = f'example/line-{tasks.randrange(8)}'
        for method in range(3):
            outcome = (
                TaskOutcome.SUCCESS
                if lot.random() < luck
                else lot.choice([one for one in TaskOutcome if one is not TaskOutcome.SUCCESS])
            )
            passes = outcome.passes_on_new
            askable = (number + method) % 3 > 0
            found.append(
                row(
                    f'task{number:02}',
                    f'T#{method}',
                    outcome,
                    repo=repo,
                    track=Track.GENERATION,
                    contamination_date=date,
                    adequacy=ADEQUACY if passes and lot.random() < 0.8 else None,
                    strict_askable=askable,
                    success_strict=None
                    if not askable
                    else lot.choice([True, True, False, None])
                    if outcome is TaskOutcome.SUCCESS
                    else False,
                    vacuous=lot.choice([True, False]) if passes else None,
                    model='m',
                    model_cutoff=model_cutoff,
                )
            )
    return found


EVALUATIONS = [
    generated(1, '2023-11', 0.9),
    generated(2, '2023-11', 0.2),
    generated(3, '2024-05-28', 0.5),
    generated(4, None, 0.5),
]


@pytest.fixture(scope='module')
def answers() -> dict[str, Any]:
    made = pq.read_table(io.BytesIO(encode_scores(EVALUATIONS))).to_pylist()
    rows = {name: [_plain(one[name]) for one in made] for name in made[0]}
    reports = [dataclasses.asdict(make_report(rows)) for rows in EVALUATIONS]
    choices = ['', 'latest', '2025-01', 'all']
    question = {'rows': rows, 'reports': reports, 'choices': choices}
    command = ['node', '--input-type=module', '--eval', ASK, str(WEB)]
    answer = subprocess.run(
        command, check=True, input=json.dumps(question), stdout=subprocess.PIPE, text=True
    ).stdout
    return dict(zip(choices, json.loads(answer), strict=True))


def _plain(value: Any) -> Any:
    return value.timestamp() * 1000 if isinstance(value, datetime) else value


def _clean(rows: list[MethodResult], cutoff: str) -> list[MethodResult]:
    first = compute_first_clean_moment(cutoff)
    return [row for row in rows if row.contamination_date and row.contamination_date >= first]


LIMITS = {
    '': ['2023-11', '2023-11', '2024-05-28', None],
    'latest': ['2024-05-28', '2024-05-28', '2024-05-28', None],
    '2025-01': ['2025-01', '2025-01', '2025-01', None],
}


@pytest.mark.parametrize('choice', LIMITS)
def test_page_scores_equal_a_report_of_the_clean_rows(answers: dict[str, Any], choice: str) -> None:
    for rows, cutoff, found in zip(
        EVALUATIONS, LIMITS[choice], answers[choice]['found'], strict=True
    ):
        if cutoff is None:
            assert found == {'why': 'cutoff'}
            continue
        clean = _clean(rows, cutoff)
        (track,) = make_report(clean).tracks
        assert 0 < track.tasks < 60
        assert (found['tasks'], found['methods']) == (track.tasks, track.methods)
        assert found['trouble'] == track.infra_methods > 0
        redundant = track.macro.redundant
        assert redundant is not None
        expected = {
            'strict': track.beyond.success_strict,
            'success': track.macro.success,
            'redundant': redundant,
            'exec_fail': track.macro.exec_fail,
            'cmpl_fail': track.macro.cmpl_fail,
            'hrns_fail': track.macro.hrns_fail,
            'coverage': track.coverage.pred,
            'range_coverage': track.range_coverage.pred,
            'mutation': track.mutation.pred,
            'vacuous': track.beyond.vacuous,
        }
        for name, estimate in expected.items():
            assert _same(found['figures'][name], estimate), name


def _same(found: dict[str, Any], expected: MeanEstimate) -> bool:
    """To the last digits, which sums in another order may change."""
    wanted = dataclasses.asdict(expected)
    return found.keys() == wanted.keys() and all(
        found[name] == (value if value is None else pytest.approx(value, abs=1e-12))
        for name, value in wanted.items()
    )


def test_every_row_counts_without_contamination_control(
    answers: dict[str, Any],
) -> None:
    for rows, found in zip(EVALUATIONS, answers['all']['found'], strict=True):
        assert found['methods'] == make_report(rows).tracks[0].methods
        assert found['day'] is None


def test_rows_whose_intervals_overlap_share_a_range_of_ranks(answers: dict[str, Any]) -> None:
    """Of four rows of one set the best and the worst are told apart; the two between are not."""
    assert answers['']['ranks'] == [[1, 1], [2, 2]]
    assert answers['all']['ranks'] == [[1, 1], [4, 4], [2, 3], [2, 3]]
    sets = [one.get('set') for one in answers['']['found']]
    assert sets[0] == sets[1] != sets[2]
