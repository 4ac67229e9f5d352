from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.outcomes import GradingResult, TargetResult
from coevo.evaluation.measuring.strict import add_strictness_flags
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.reporting.regrading import regrade_row
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import load_results, write_junit, write_results
from coevo.evaluation.rows import ResultHeader, make_rows
from coevo.evaluation.worth import OraclePreservation
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome, Track
from tests import snapshots
from tests.evaluation.rows import ADEQUACY, row

HEADER = ResultHeader(snapshot_sha256='0' * 64, sandbox='bubblewrap')
FLAGS = (True, False)


def _all_that_may_be_seen(track: Track) -> list[TargetResult]:
    """Every state that a judgement can be in, and some that it cannot."""
    troubles = (
        Detail.NO_REPOSITORY,
        Detail.RUNTIME_MISSING,
        Detail.NOT_BUILT,
        Detail.START_STATE,
        Detail.TROUBLE,
        Detail.BUG,
    )
    refusals = set(Detail) - {*troubles, Detail.PRECONDITION}
    found = [TargetResult(trouble=Refusal(detail=detail)) for detail in troubles]
    found += [
        TargetResult(refusal=Refusal(detail=detail, message='so')) for detail in sorted(refusals)
    ]
    found += [TargetResult(precondition=held) for held in (None, Outcome.PASS, Outcome.FAIL)]
    olds = Outcome if track is Track.GENERATION else (None,)
    found += [
        TargetResult(
            submitted=True,
            precondition=held,
            new=Verdict(outcome=new, tampered=tampered),
            unstable='once pass, once fail' if tampered is None and not new_ok else None,
            new_module_ok=new_ok,
            old=old and Verdict(outcome=old),
            old_module_ok=old_ok,
        )
        for held, new, tampered, new_ok, old, old_ok in product(
            (None, Outcome.PASS, Outcome.FAIL), Outcome, (None, 'forged'), FLAGS, olds, FLAGS
        )
    ]
    return found


def _row(assignment: Assignment, seen: TargetResult) -> MethodResult:
    judgement = GradingResult(seen={target.name: seen for target in assignment.targets})
    prediction = Prediction(task_id=assignment.task_id, patch=b'')
    return make_rows(HEADER, assignment, prediction, judgement)[0]


def test_regraded_rows_equal_rows_made_from_any_target_result(tmp_path: Path) -> None:
    found = load_assignments(snapshots.make(tmp_path, 1, 2))
    assert {one.task.track for one in found} >= {Track.GENERATION, Track.UPDATE}
    for assignment in found:
        for seen in _all_that_may_be_seen(assignment.task.track):
            made = _row(assignment, seen)
            assert regrade_row(made) == made, seen
            hidden = replace(
                made, outcome=TaskOutcome.SUCCESS, outcome_by_module=TaskOutcome.SUCCESS
            )
            assert regrade_row(hidden) == made, seen


@pytest.mark.parametrize('lost', [0, 2])
def test_a_weakened_extension_stays_weakened(tmp_path: Path, lost: int) -> None:
    """Its outcome rests on mutants, which its row has, and which no rule may forget."""
    oracle = OraclePreservation(count=3, lost=lost, not_run=0)
    extended = row(
        'a',
        track=Track.EXTENSION,
        outcome=TaskOutcome.WEAKENED if lost else TaskOutcome.SUCCESS,
        detail=Detail.ORACLE_LOST if lost else None,
        old=Outcome.FAIL,
        old_by_module=Outcome.FAIL,
        adequacy=replace(ADEQUACY, oracle=oracle),
    )
    stored = add_strictness_flags(
        replace(extended, outcome_by_module=extended.outcome),
    )
    assert regrade_row(stored) == stored
    junit = write_junit(tmp_path, [stored]).read_text()
    assert ('failures="1"' in junit) == bool(lost)


def test_every_outcome_but_success_is_an_element_of_junit(tmp_path: Path) -> None:
    for outcome in set(TaskOutcome) - {TaskOutcome.SUCCESS}:
        text = write_junit(tmp_path, [row('a', outcome=outcome)]).read_text()
        assert any(f'<{kind} ' in text for kind in ('failure', 'error', 'skipped')), outcome


def test_regrade_remakes_the_same_report_byte_by_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = row(
        'b', outcome=TaskOutcome.CMPL_FAIL, new=Outcome.COMPILE_ERROR, detail=Detail.COMPILE_ERROR
    )
    stored = [row('a', cost_usd=0.1, repo='other/name'), add_strictness_flags(failed)]
    results = write_results(tmp_path, stored).read_bytes()
    write_report(tmp_path, stored)
    report = tmp_path / 'report.json'
    before = report.read_bytes()
    report.unlink()
    assert main(['report', 'regrade', str(tmp_path)]) == 0
    assert 'Test update on 2 methods across 2 tasks' in capsys.readouterr().out
    assert report.read_bytes() == before
    assert (tmp_path / 'results.parquet').read_bytes() == results


def test_regrade_corrects_an_outcome_that_does_not_follow(tmp_path: Path) -> None:
    """As it is where the rules were others when the results were stored."""
    write_results(tmp_path, [row('a', new=Outcome.FAIL, success_strict=True)])
    assert main(['report', 'regrade', str(tmp_path)]) == 0
    (mended,) = load_results(tmp_path)
    assert (mended.outcome, mended.detail) == (TaskOutcome.EXEC_FAIL, Detail.FAIL)
    assert mended.success_strict is False
    assert mended.outcome_by_module is TaskOutcome.EXEC_FAIL
    assert 'failures="1"' in (tmp_path / 'junit.xml').read_text()


def test_regrade_of_a_folder_without_results_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['report', 'regrade', str(tmp_path)]) == 2
    assert (
        'has no results.parquet; name a folder that `coevo evaluate --out` wrote'
        in capsys.readouterr().err
    )
    assert list(tmp_path.iterdir()) == []
