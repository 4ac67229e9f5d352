"""Plain DuckDB, asked of `results.parquet` by the paper's definitions, says what the report says."""

from __future__ import annotations

import random
from collections.abc import Iterator

import duckdb
import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.records import TrackReport
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.results import write_results
from coevo.evaluation.worth import Adequacy, Detections
from coevo.model.quality import Coverage
from coevo.model.words import Track
from tests.evaluation.rows import row

TASKS = """
CREATE TEMP TABLE judged AS
SELECT *, outcome IN ('success', 'redundant', 'weakened') AS passes,
    CASE WHEN passes THEN
        adequacy.coverage_pred.covered_lines / nullif(adequacy.coverage_pred.lines, 0) END AS cov,
    CASE WHEN passes THEN
        adequacy.coverage_gold.covered_lines / nullif(adequacy.coverage_gold.lines, 0) END AS cov_gold,
    CASE WHEN passes THEN
        adequacy.coverage_pred.covered_lines / nullif(adequacy.coverage_pred.known_lines, 0)
        END AS code,
    CASE WHEN passes THEN
        adequacy.coverage_gold.covered_lines / nullif(adequacy.coverage_gold.known_lines, 0)
        END AS code_gold,
    CASE WHEN passes THEN adequacy.mutants.pred / nullif(adequacy.mutants."count", 0) END AS mut
FROM results WHERE outcome <> 'infra'"""

# Each is a mean over tasks of what is a mean over methods.
OVER_TASKS = {
    'macro.success': "avg((outcome = 'success')::INT)",
    'macro.redundant': "avg((outcome = 'redundant')::INT)",
    'macro.exec_fail': "avg((outcome = 'exec_fail')::INT)",
    'macro.cmpl_fail': "avg((outcome = 'cmpl_fail')::INT)",
    'macro.hrns_fail': "avg((outcome = 'hrns_fail')::INT)",
    'fields.avg_coverage_pred': 'avg(coalesce(code, 0))',
    'fields.avg_coverage_pred_success': 'avg(code)',
    'fields.avg_coverage_gold': 'avg(coalesce(code_gold, 0))',
    'fields.avg_coverage_gold_success': 'avg(code_gold)',
    'fields.avg_range_coverage_pred': 'avg(coalesce(cov, 0))',
    'fields.avg_range_coverage_gold_success': 'avg(cov_gold)',
    'fields.avg_mutation_score_pred': 'avg(coalesce(mut, 0))',
    'fields.avg_mutation_score_pred_success': 'avg(mut)',
    'coverage.delta': 'avg(code - code_gold)',
    'range_coverage.wide': 'avg(coalesce(cov, 0))',
    'range_coverage.pred': 'avg(cov)',
    'range_coverage.delta': 'avg(cov - cov_gold)',
}


def _rows(lot: random.Random) -> Iterator[MethodResult]:
    for task in range(60):
        cost = lot.choice((None, lot.uniform(0, 4)))
        for method in range(lot.randint(1, 5)):
            yield row(
                f'task{task}',
                f'T#{method}',
                lot.choice(list(TaskOutcome)),
                repo=f'owner/name{task % 7}',
                track=Track.GENERATION,
                cost_usd=cost,
                adequacy=lot.choice((None, _adequacy(lot))),
            )


def _adequacy(lot: random.Random) -> Adequacy:
    count = lot.randint(0, 4)
    kills = {name: lot.randint(0, count) for name in ('pred', 'gold', 'both')}
    return Adequacy(
        coverage_pred=_coverage(lot),
        coverage_gold=lot.choice((None, _coverage(lot))),
        mutants=lot.choice((None, Detections(count=count, **kills))),
    )


def _coverage(lot: random.Random) -> Coverage:
    zeros = dict.fromkeys(('branches', 'covered_branches', 'methods', 'covered_methods'), 0)
    lines = lot.randint(0, 9)
    known = lot.randint(0, lines)
    return Coverage(lines=lines, known_lines=known, covered_lines=lot.randint(0, known), **zeros)


@pytest.fixture(scope='module')
def results(tmp_path_factory: pytest.TempPathFactory) -> tuple[MethodResult, ...]:
    return tuple(_rows(random.Random(8)))


@pytest.fixture(scope='module')
def report(results: tuple[MethodResult, ...]) -> TrackReport:
    (track,) = make_report(results).tracks
    return track


@pytest.fixture(scope='module')
def database(
    results: tuple[MethodResult, ...], tmp_path_factory: pytest.TempPathFactory
) -> duckdb.DuckDBPyConnection:
    path = write_results(tmp_path_factory.mktemp('results'), results)
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW results AS FROM '{path}'")
    connection.execute(TASKS)
    return connection


def _one(database: duckdb.DuckDBPyConnection, sql: str) -> float:
    ((found,),) = database.sql(sql).fetchall()
    return float(found)


@pytest.mark.parametrize('name', OVER_TASKS)
def test_report_means_over_tasks_equal_those_in_sql(
    report: TrackReport, database: duckdb.DuckDBPyConnection, name: str
) -> None:
    part, _, figure = name.partition('.')
    sql = f'SELECT avg(x) FROM (SELECT {OVER_TASKS[name]} AS x FROM judged GROUP BY task_id)'
    found = getattr(getattr(report, part), figure)
    assert found.value == pytest.approx(_one(database, sql))
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize('cap', [3.0, 1.0, 0.5])
def test_report_rates_under_cost_caps_equal_those_in_sql(
    report: TrackReport, database: duckdb.DuckDBPyConnection, cap: float
) -> None:
    assert report.costs is not None
    (capped,) = (one for one in report.costs.caps if one.cap_usd == cap)
    within = f'coalesce(cost_usd <= {cap}, false)'
    success = f"SELECT avg((outcome = 'success' AND {within})::INT) FROM judged"
    failed = f"SELECT avg((outcome = 'hrns_fail' OR NOT {within})::INT) FROM judged"
    spent = f"""SELECT avg(cost) FROM
        (SELECT any_value(cost_usd) AS cost FROM judged WHERE {within} GROUP BY task_id)"""
    kept = f"""SELECT avg(kept::INT) FROM
        (SELECT bool_and({within}) AS kept FROM judged GROUP BY task_id)"""
    assert capped.micro.success.value == pytest.approx(_one(database, success))
    assert capped.micro.hrns_fail.value == pytest.approx(_one(database, failed))
    assert capped.avg_cost_usd.value == pytest.approx(_one(database, spent))
    assert capped.kept == pytest.approx(_one(database, kept))
