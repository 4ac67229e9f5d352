from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.reporting.comparison import FigureComparison, TrackComparison, compare_rows
from coevo.evaluation.results import write_results
from coevo.evaluation.worth import Adequacy, Detections
from tests.evaluation.rows import row

SUCCESS, FAIL, INFRA = TaskOutcome.SUCCESS, TaskOutcome.EXEC_FAIL, TaskOutcome.INFRA


def _killing(pred: int | None) -> Adequacy:
    mutants = None if pred is None else Detections(count=4, pred=pred, gold=4, both=pred)
    return Adequacy(mutants=mutants)


FIRST = [
    row('a', 'T#1', FAIL, repo='one'),
    row('a', 'T#2', SUCCESS, repo='one', adequacy=_killing(1)),
    row('b', 'T#1', SUCCESS, repo='two', adequacy=_killing(2)),
    row('c', 'T#1', INFRA, repo='two'),
    row('d', 'T#1', SUCCESS, repo='two', adequacy=_killing(4)),
]
SECOND = [
    row('a', 'T#1', SUCCESS, repo='one', adequacy=_killing(0)),
    row('a', 'T#2', SUCCESS, repo='one', adequacy=_killing(3)),
    row('b', 'T#1', SUCCESS, repo='two', adequacy=_killing(None)),
    row('c', 'T#1', SUCCESS, repo='two', adequacy=_killing(4)),
    row('d', 'T#1', FAIL, repo='two'),
]


def _figure(track: TrackComparison, name: str) -> FigureComparison:
    return next(figure for figure in track.figures if figure.name == name)


def _values(figure: FigureComparison) -> tuple[float | None, float | None, float | None]:
    return figure.first.value, figure.second.value, figure.difference.value


def test_only_methods_judged_in_both_results_are_compared() -> None:
    (track,) = compare_rows(FIRST, SECOND).tracks
    assert (track.tasks, track.methods, track.left_out) == (3, 4, 1)
    assert _values(_figure(track, 'Success%')) == pytest.approx((2.5 / 3, 2 / 3, -0.5 / 3))
    assert _values(_figure(track, 'Success% of methods')) == pytest.approx((3 / 4, 3 / 4, 0))
    assert _values(_figure(track, 'ExecFail%')) == pytest.approx((0.5 / 3, 1 / 3, 0.5 / 3))


def test_adequacy_is_compared_only_on_methods_measured_in_both_results() -> None:
    (track,) = compare_rows(FIRST, SECOND).tracks
    figure = _figure(track, 'MutOnPass')
    assert _values(figure) == pytest.approx((1 / 4, 3 / 4, 1 / 2))
    assert (figure.difference.units, figure.difference.repositories) == (1, 1)


def test_strict_success_is_compared_where_it_is_asked_and_known_on_both_sides() -> None:
    no = {'outcome': FAIL, 'success_strict': False}
    first = [
        row('a', success_strict=True),
        row('b', **no),
        row('c'),
        row('d', strict_askable=False),
    ]
    second = [row('a', success_strict=False, vacuous=True), row('b', **no), row('c', **no)]
    second.append(row('d', outcome=FAIL, strict_askable=False))
    (track,) = compare_rows(first, second).tracks
    assert _values(_figure(track, 'SuccessStrict%')) == pytest.approx((1 / 2, 0, -1 / 2))
    assert _figure(track, 'SuccessStrict%').difference.units == 2


def test_vacuous_is_a_share_of_all_compared_methods() -> None:
    first = [row('a'), row('b', outcome=FAIL), row('c')]
    second = [row('a', vacuous=True), row('b', outcome=FAIL), row('c')]
    (track,) = compare_rows(first, second).tracks
    assert _values(_figure(track, 'Vacuous%')) == (None, None, None)  # nobody asked the first ones
    first[0] = replace(first[0], vacuous=False)
    (track,) = compare_rows(first, second).tracks
    assert _values(_figure(track, 'Vacuous%')) == pytest.approx((0, 1 / 3, 1 / 3))


def test_strict_success_is_absent_where_no_success_was_examined() -> None:
    rows = [row('a'), row('b', outcome=FAIL, success_strict=False)]
    (track,) = compare_rows(rows, rows).tracks
    assert _values(_figure(track, 'SuccessStrict%')) == (None, None, None)


def test_interval_of_a_difference_is_over_paired_values() -> None:
    """One repository gains a half, two tasks of the other lose a half: of each alone, or of both."""
    (track,) = compare_rows(FIRST, SECOND).tracks
    difference = _figure(track, 'Success%').difference
    assert (difference.low, difference.high) == (-0.5, 0.5)
    (same,) = compare_rows(FIRST, FIRST).tracks
    assert {(one.difference.low, one.difference.high) for one in same.figures[:4]} == {(0.0, 0.0)}


def _write(folder: Path, rows: list[MethodResult]) -> str:
    write_results(folder, rows)
    return str(folder)


def test_compare_command_prints_a_table_or_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = _write(tmp_path / 'a', FIRST), _write(tmp_path / 'b', SECOND)
    assert main(['report', 'compare', *folders]) == 0
    out = capsys.readouterr().out
    assert 'Test update on 4 methods across 3 tasks' in out
    assert '-16.667%' in out
    assert '1 method could not be graded in both' in out
    assert main(['report', 'compare', *folders, '--format', 'json']) == 0
    found = json.loads(capsys.readouterr().out)
    assert found['tracks'][0]['figures'][0]['difference']['value'] == pytest.approx(-0.5 / 3)


def test_incomparable_results_are_refused_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = _write(tmp_path / 'a', FIRST)
    for rows, words in (
        (SECOND[:-1], 'are results for different tasks (1 test methods are only in the first, 0'),
        (
            [*SECOND, row('e')],
            'are results for different tasks (0 test methods are only in the first, 1',
        ),
        (
            [row('a', snapshot_sha256='2' * 64)],
            'are results for different snapshots (0000000000000000 and 2',
        ),
    ):
        assert main(['report', 'compare', first, _write(tmp_path / 'b', rows)]) == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count('\n') == 1
    assert main(['report', 'compare', first, str(tmp_path / 'none')]) == 2
    assert 'has no results.parquet' in capsys.readouterr().err
