from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import Assignment
from coevo.evaluation.assignments import assignments
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.judgement import Judgement
from coevo.evaluation.judging.outcomes import Seen
from coevo.evaluation.measuring.strict import flagged
from coevo.evaluation.outcomes import Detail
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.reporting.regrading import regraded
from coevo.evaluation.reporting.report import write_report
from coevo.evaluation.results import read_results
from coevo.evaluation.results import write_results
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.rows import rows
from coevo.languages.verdicts import Verdict
from coevo.model.words import Outcome
from coevo.model.words import Track
from tests import snapshots
from tests.evaluation.rows import row

HEADER = ResultHeader(snapshot_sha256='0' * 64, sandbox='bubblewrap')
FLAGS = (True, False)


def _all_that_may_be_seen(track: Track) -> list[Seen]:
    """Every state that a judgement can be in, and some that it cannot."""
    troubles = (
        Detail.NO_REPOSITORY,
        Detail.NOT_BUILT,
        Detail.START_STATE,
        Detail.TROUBLE,
        Detail.BUG,
    )
    refusals = set(Detail) - {*troubles, Detail.PRECONDITION}
    found = [Seen(trouble=Refusal(detail=detail)) for detail in troubles]
    found += [Seen(refusal=Refusal(detail=detail, said='so')) for detail in sorted(refusals)]
    found += [Seen(precondition=held) for held in (None, Outcome.PASS, Outcome.FAIL)]
    olds = Outcome if track is Track.GENERATION else (None,)
    found += [
        Seen(
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


def _row(assignment: Assignment, seen: Seen) -> MethodResult:
    judgement = Judgement(seen={target.name: seen for target in assignment.targets})
    prediction = Prediction(task_id=assignment.task_id, patch=b'')
    return rows(HEADER, assignment, prediction, judgement)[0]


def test_outcomes_follow_again_from_whatever_was_seen(tmp_path: Path) -> None:
    found = assignments(snapshots.make(tmp_path, 1, 2))
    assert {one.task.track for one in found} >= {Track.GENERATION, Track.UPDATE}
    for assignment in found:
        for seen in _all_that_may_be_seen(assignment.task.track):
            made = _row(assignment, seen)
            assert regraded(made) == made, seen
            hidden = replace(
                made, outcome=TaskOutcome.SUCCESS, outcome_by_module=TaskOutcome.SUCCESS
            )
            assert regraded(hidden) == made, seen


def test_a_report_is_made_again_byte_by_byte(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failed = row(
        'b', outcome=TaskOutcome.CMPL_FAIL, new=Outcome.COMPILE_ERROR, detail=Detail.COMPILE_ERROR
    )
    stored = [row('a', cost_usd=0.1, repo='other/name'), flagged(failed)]
    results = write_results(tmp_path, stored).read_bytes()
    write_report(tmp_path, stored)
    report = tmp_path / 'report.json'
    before = report.read_bytes()
    report.unlink()
    assert main(['regrade', str(tmp_path)]) == 0
    assert 'Test update on 2 methods across 2 tasks' in capsys.readouterr().out
    assert report.read_bytes() == before
    assert (tmp_path / 'results.parquet').read_bytes() == results


def test_an_outcome_that_does_not_follow_is_mended(tmp_path: Path) -> None:
    """As it is where the rules were others when the results were stored."""
    write_results(tmp_path, [row('a', new=Outcome.FAIL, success_strict=True)])
    assert main(['regrade', str(tmp_path)]) == 0
    (mended,) = read_results(tmp_path)
    assert (mended.outcome, mended.detail) == (TaskOutcome.EXEC_FAIL, Detail.FAIL)
    assert mended.success_strict is False
    assert mended.outcome_by_module is TaskOutcome.EXEC_FAIL
    assert 'failures="1"' in (tmp_path / 'junit.xml').read_text()


def test_where_nothing_is_stored_one_sentence_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['regrade', str(tmp_path)]) == 2
    assert 'has no results.parquet; name the --out of a `coevo evaluate`' in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
