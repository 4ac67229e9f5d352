from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from rich.console import Console

from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting import tables
from coevo.evaluation.reporting.records import Exposure, SystemSummary
from coevo.evaluation.reporting.report import make_report, write_report
from coevo.model.errors import Fatal
from coevo.model.words import BreakageCause, Track
from tests.evaluation.rows import ADEQUACY, row

SCHEMA = json.loads(files('coevo.evaluation.reporting').joinpath('report.schema.json').read_bytes())


def _rows() -> list[MethodResult]:
    said: dict[str, Any] = {'harness': 'A', 'model': 'm', 'cost_usd': 0.5, 'tokens': 1500}
    said |= {'cause': BreakageCause.PRODUCTION, 'exit_status': 'submitted'}
    generation = said | {'track': Track.GENERATION, 'adequacy': ADEQUACY}
    return [
        *(row('g1', f'T#{i}', repo='one', **generation) for i in range(20)),
        row('g2', 'T#0', TaskOutcome.REDUNDANT, repo='two', **generation),
        row('u1', 'T#0', repo='one', **said | {'adequacy': ADEQUACY}),
        row('u2', 'T#0', TaskOutcome.HRNS_FAIL, repo='two', detail=Detail.NO_PREDICTION),
        row('u3', 'T#0', TaskOutcome.INFRA, repo='two', detail=Detail.TROUBLE),
    ]


def _shown(rows: list[MethodResult], width: int = 200) -> str:
    console = Console(width=width, record=True)
    tables.print_report(make_report(rows), console)
    return console.export_text()


def test_report_matches_its_strict_schema(tmp_path: Path) -> None:
    write_report(tmp_path, _rows())
    content = json.loads((tmp_path / 'report.json').read_bytes())
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(content, SCHEMA, cls=jsonschema.Draft202012Validator)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content | {'report_version': 2}, SCHEMA)
    del content['tracks'][0]['fields']['avg_coverage_gold_success']
    with pytest.raises(jsonschema.ValidationError, match='is a required property'):
        jsonschema.validate(content, SCHEMA)


def test_report_bytes_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    write_report(tmp_path / 'a', _rows())
    write_report(tmp_path / 'b', _rows()[::-1])
    assert (tmp_path / 'a/report.json').read_bytes() == (tmp_path / 'b/report.json').read_bytes()


def test_report_counts_tasks_methods_systems_and_details() -> None:
    report = make_report(_rows())
    assert (report.tasks, report.methods, report.repositories) == (5, 24, 2)
    assert report.systems == [SystemSummary(harness='A', model='m', tasks=3)]
    generation, update = report.tracks
    assert (generation.track, generation.tasks, generation.methods) == (Track.GENERATION, 2, 21)
    assert (update.tasks, update.methods, update.infra_tasks, update.infra_methods) == (2, 2, 1, 1)
    assert update.details == {'no_prediction': 1, 'trouble': 1}
    assert update.exits == {'submitted': 1}
    assert [one.name for one in generation.half_years] == ['2020 H1']
    assert update.half_years == []
    assert [one.name for one in update.causes] == ['production', 'unknown']


def test_predictions_hash_covers_every_prediction_of_the_report() -> None:
    rows = [row('b', prediction_sha256='2' * 64), row('a', 'T#1'), row('a', 'T#2')]
    text = f'a {"1" * 64}\nb {"2" * 64}\n'
    assert make_report(rows).predictions_sha256 == hashlib.sha256(text.encode()).hexdigest()


def test_tasks_hash_depends_on_methods_and_not_on_outcomes() -> None:
    said = make_report([row('a', 'T#1'), row('b')]).tasks_sha256
    other = make_report([row('b', outcome=TaskOutcome.INFRA), row('a', 'T#1')]).tasks_sha256
    assert other == said
    assert make_report([row('a', 'T#2'), row('b')]).tasks_sha256 != said


def test_outcomes_hash_ignores_time_and_output() -> None:
    said = make_report([row('a'), row('b', success_strict=True)]).outcomes_sha256
    same = make_report([row('b', success_strict=True, seconds=9.0), row('a', output='x')])
    assert same.outcomes_sha256 == said
    assert make_report([row('a'), row('b')]).outcomes_sha256 != said
    lost = row('a', outcome=TaskOutcome.EXEC_FAIL)
    assert make_report([lost, row('b', success_strict=True)]).outcomes_sha256 != said


def test_report_counts_tasks_that_are_clean_for_its_model() -> None:
    """Strictly later than the end of the cutoff's month; without a date or a cutoff nothing is."""
    known: dict[str, Any] = {'model': 'm', 'model_cutoff': '2024-06', 'cutoff': '2024-03-31'}
    days = [datetime(2024, 6, 30, 23, 59, tzinfo=UTC), datetime(2024, 7, 1, tzinfo=UTC), None]
    rows = [row(f't{i}', contamination_date=day, **known) for i, day in enumerate(days)]
    assert make_report(rows).exposure == Exposure(
        first='2024-06-30T23:59:00+00:00',
        last='2024-07-01T00:00:00+00:00',
        unknown=1,
        clean=1,
        cutoff='2024-03-31',
    )
    assert make_report(rows).systems[0].cutoff == '2024-06'
    assert make_report([row(contamination_date=days[1], model='m')]).exposure.clean == 0
    with pytest.raises(Fatal, match='mix 2 cutoffs'):
        make_report([*rows, row('t4')])


def test_rows_of_no_or_several_snapshots_give_no_report() -> None:
    with pytest.raises(Fatal, match='no rows'):
        make_report([])
    with pytest.raises(Fatal, match='mix 2 snapshots'):
        make_report([row('a'), row('b', snapshot_sha256='2' * 64)])


def test_printed_tables_follow_those_of_the_paper() -> None:
    shown = _shown(_rows())
    assert 'Test generation on 21 methods across 2 tasks (Table 3a' in shown
    assert 'Test update on 2 methods across 2 tasks (Table 3b' in shown
    for name in ('Redundant%', 'ΔCovOnPass', 'MutOnPassHuman', '% kept', 'half-year', 'Vacuous%'):
        assert name in shown
    table = _lines(shown, 'Test generation: coverage of executable lines (Table 6)')
    assert table[3].split() == ['75.0%', '75.0%', '75.0%', '+0.000%']
    table = _lines(shown, 'Test generation: coverage of the whole range, as Eq. 1 is printed')
    assert table[3].split() == ['60.0%', '60.0%', '60.0%', '+0.000%']
    table = _lines(shown, 'Test update: under a cap')
    assert table[3].split() == ['$3', '50.0%', '1.5k', '$0.50', '50.0%', '50.0%']
    assert '1 task of unknown cost' in shown
    assert '1 method of 1 task could not be graded' in shown


def test_summary_of_the_report_precedes_its_tables() -> None:
    shown = _shown(_rows()).splitlines()
    assert shown[0] == 'harness A, model m'
    assert [line.split() for line in shown[1:8]] == [
        ['generation', 'update'],
        ['tasks', '2', '2'],
        ['success', '50.0%', '50.0%'],
        ['strict', '–', '–'],  # noqa: RUF001
        ['askable', '–', '–'],  # noqa: RUF001
        ['vacuous', '–', '–'],  # noqa: RUF001
        ['interval', '0.0–100.0', '0.0–100.0'],  # noqa: RUF001
    ]


def test_no_table_is_truncated_on_a_terminal_of_80_columns() -> None:
    """Whatever is wider than a terminal, rich cuts, and says so with an ellipsis."""
    shown = _shown(_rows(), width=80)
    assert not re.search(r'[^\W\d]…', shown)
    assert max(map(len, shown.splitlines())) <= 80


def test_track_of_infra_outcomes_alone_shows_dashes() -> None:
    shown = _shown([row('a', outcome=TaskOutcome.INFRA)])
    assert 'Test update on 0 methods across 0 tasks' in shown
    assert _lines(shown, 'Test update on')[3].split()[1:] == ['–'] * 4  # noqa: RUF001


def test_control_characters_in_model_names_are_escaped() -> None:
    shown = _shown([row('a', model='\x1b[2J[red]m', harness=None)])
    assert '\x1b' not in shown
    assert '\\x1b[2J[red]m' in shown


def _lines(shown: str, title: str) -> list[str]:
    return shown[shown.index(title) :].splitlines()
