"""What a ledger knows: the same patch to the same task in the same surroundings, and no other."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.evaluation.assignments import Assignment, load_assignments
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import Prediction
from coevo.evaluation.rows import ResultHeader, adapt_rows
from coevo.languages.java.processes.workarounds import WORKAROUNDS
from coevo.model.words import BreakageCause
from coevo.snapshots.cutoffs import LanguageModel
from tests import snapshots
from tests.evaluation.rows import row


@pytest.fixture(scope='module')
def assignment(tmp_path_factory: pytest.TempPathFactory) -> Assignment:
    return load_assignments(snapshots.make(tmp_path_factory.mktemp('made'), 1))[0]


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(folder=tmp_path, settings=('bubblewrap', '17'))


def answer(assignment: Assignment, patch: bytes = b'a') -> Prediction:
    return Prediction(task_id=assignment.task_id, patch=patch)


def test_ledger_recalls_stored_rows_for_the_same_patch(
    ledger: Ledger, assignment: Assignment
) -> None:
    assert ledger.recall_rows(assignment, answer(assignment)) is None
    ledger.store_rows(assignment, answer(assignment), [row()])
    assert ledger.recall_rows(assignment, answer(assignment)) == (row(),)
    other = replace(answer(assignment), model='m', cost_usd=1.0, tokens=5)
    assert ledger.recall_rows(assignment, other) == (row(),)


def test_ledger_recalls_nothing_for_another_patch_task_or_setting(
    ledger: Ledger, assignment: Assignment
) -> None:
    ledger.store_rows(assignment, answer(assignment), [row()])
    assert ledger.recall_rows(assignment, answer(assignment, b'a\n')) is None
    assert ledger.recall_rows(assignment, replace(answer(assignment), patch=None)) is None
    elsewhere = replace(ledger, settings=('docker', '17'))
    assert elsewhere.recall_rows(assignment, answer(assignment)) is None
    task = replace(assignment.task, start_file_sha256='0' * 64)
    assert ledger.recall_rows(replace(assignment, task=task), answer(assignment)) is None
    target = assignment.targets[0]
    other = replace(target, row=replace(target.row, override=min(WORKAROUNDS)))
    assert ledger.recall_rows(replace(assignment, targets=(other,)), answer(assignment)) is None


def test_ledger_does_not_keep_infra_outcomes(ledger: Ledger, assignment: Assignment) -> None:
    ledger.store_rows(assignment, answer(assignment), [row(), row(outcome=TaskOutcome.INFRA)])
    assert ledger.recall_rows(assignment, answer(assignment)) is None


def test_damaged_ledger_entry_is_ignored_and_removed(
    ledger: Ledger, assignment: Assignment
) -> None:
    ledger.store_rows(assignment, answer(assignment), [row(outcome=TaskOutcome.EXEC_FAIL)])
    (file,) = ledger.folder.glob('??/*')
    file.write_bytes(file.read_bytes().replace(b'exec_fail', b'success'))
    assert ledger.recall_rows(assignment, answer(assignment)) is None
    assert not file.exists()


def test_recalled_rows_take_metadata_of_the_prediction_and_snapshot(assignment: Assignment) -> None:
    """A later snapshot may tell another cause of the same task."""
    said = replace(answer(assignment), model='m', harness='h', cost_usd=1.5, seconds=2.0)
    target = assignment.targets[0]
    before = row(test_method=target.name, model='before', cause=BreakageCause.SYNTAX)
    day = datetime(2024, 7, 1, tzinfo=UTC)
    assignment = replace(assignment, task=replace(assignment.task, contamination_date=day))
    header = ResultHeader(
        snapshot_sha256='f' * 64,
        sandbox='bubblewrap',
        cutoff='2024-06-30',
        models={'m': LanguageModel(names=('m',), cutoff='2024-05', source='its maker')},
    )
    (found,) = adapt_rows([before], assignment, said, header)
    assert (found.cause, found.method_id) == (target.row.cause, target.row.method_id)
    assert found.cause is not BreakageCause.SYNTAX
    assert (found.model, found.harness, found.cost_usd, found.agent_seconds) == ('m', 'h', 1.5, 2.0)
    assert found.snapshot_sha256 == 'f' * 64
    assert found.contamination_date == day
    assert found.cutoff == '2024-06-30'
    assert (found.model_cutoff, found.model_cutoff_source) == ('2024-05', 'its maker')
    (found,) = adapt_rows([found], assignment, replace(said, model='of nobody'), header)
    assert (found.model_cutoff, found.model_cutoff_source) == (None, None)
