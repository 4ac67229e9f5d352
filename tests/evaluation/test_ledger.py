"""What a ledger knows: the same patch to the same task in the same surroundings, and no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC
from datetime import datetime
from pathlib import Path

import pytest

from coevo.evaluation.assignments import Assignment
from coevo.evaluation.assignments import assignments
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import ResultHeader
from coevo.evaluation.rows import renamed
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.model.words import Cause
from coevo.snapshots.models import Model
from tests import snapshots
from tests.evaluation.rows import row


@pytest.fixture(scope='module')
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return assignments(snapshots.make(tmp_path_factory.mktemp('made'), 1))[0]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(folder=tmp_path, settings=('bubblewrap', '17'))


def answer(assignment: Assignment, patch: bytes = b'a') -> Prediction:
    return Prediction(task_id=assignment.task_id, patch=patch)


def test_it_knows_what_it_was_told(ledger: Ledger, assignment: Assignment) -> None:
    assert ledger.recall(assignment, answer(assignment)) is None
    ledger.keep(assignment, answer(assignment), [row()])
    assert ledger.recall(assignment, answer(assignment)) == (row(),)
    other = replace(answer(assignment), model='m', cost_usd=1.0, tokens=5)
    assert ledger.recall(assignment, other) == (row(),)


def test_it_never_answers_for_something_else(ledger: Ledger, assignment: Assignment) -> None:
    ledger.keep(assignment, answer(assignment), [row()])
    assert ledger.recall(assignment, answer(assignment, b'a\n')) is None
    assert ledger.recall(assignment, replace(answer(assignment), patch=None)) is None
    elsewhere = replace(ledger, settings=('docker', '17'))
    assert elsewhere.recall(assignment, answer(assignment)) is None
    task = replace(assignment.task, start_file_sha256='0' * 64)
    assert ledger.recall(replace(assignment, task=task), answer(assignment)) is None
    target = assignment.targets[0]
    other = replace(target, row=replace(target.row, override=min(WORKAROUNDS)))
    assert ledger.recall(replace(assignment, targets=(other,)), answer(assignment)) is None


def test_trouble_of_ours_is_not_kept(ledger: Ledger, assignment: Assignment) -> None:
    ledger.keep(assignment, answer(assignment), [row(), row(outcome=TaskOutcome.INFRA)])
    assert ledger.recall(assignment, answer(assignment)) is None


def test_what_is_damaged_is_not_believed(ledger: Ledger, assignment: Assignment) -> None:
    ledger.keep(assignment, answer(assignment), [row(outcome=TaskOutcome.EXEC_FAIL)])
    (file,) = ledger.folder.glob('??/*')
    file.write_bytes(file.read_bytes().replace(b'exec_fail', b'success'))
    assert ledger.recall(assignment, answer(assignment)) is None
    assert not file.exists()


def test_known_rows_take_what_prediction_and_snapshot_say(assignment: Assignment) -> None:
    """A later snapshot may tell another cause of the same task."""
    said = replace(answer(assignment), model='m', harness='h', cost_usd=1.5, seconds=2.0)
    target = assignment.targets[0]
    before = row(test_method=target.name, model='before', cause=Cause.SYNTAX)
    day = datetime(2024, 7, 1, tzinfo=UTC)
    assignment = replace(assignment, task=replace(assignment.task, contamination_date=day))
    header = ResultHeader(
        snapshot_sha256='f' * 64,
        sandbox='bubblewrap',
        cutoff='2024-06-30',
        models={'m': Model(names=('m',), cutoff='2024-05', source='its maker')},
    )
    (found,) = renamed([before], assignment, said, header)
    assert (found.cause, found.method_id) == (target.row.cause, target.row.method_id)
    assert found.cause is not Cause.SYNTAX
    assert (found.model, found.harness, found.cost_usd, found.agent_seconds) == ('m', 'h', 1.5, 2.0)
    assert found.snapshot_sha256 == 'f' * 64
    assert found.contamination_date == day
    assert found.cutoff == '2024-06-30'
    assert (found.model_cutoff, found.model_cutoff_source) == ('2024-05', 'its maker')
    (found,) = renamed([found], assignment, replace(said, model='of nobody'), header)
    assert (found.model_cutoff, found.model_cutoff_source) == (None, None)
