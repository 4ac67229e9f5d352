"""Whole evaluations: what is judged, what is known, what is trouble of ours, what is bad input."""

from __future__ import annotations

import json
import math
import shutil
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import duckdb
import pytest

from coevo.command.main import main
from coevo.evaluation import examination
from coevo.evaluation.assignments import Assignment, TaskAttempt, load_assignments
from coevo.evaluation.cases import grade_if_refused
from coevo.evaluation.evaluation import Evaluation, evaluate, summarise_evaluation, write_evaluation
from coevo.evaluation.examination import ROUNDS
from coevo.evaluation.judging.outcomes import GradingResult
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.reporting.cells import pluralise
from coevo.evaluation.results import load_results
from coevo.model.errors import Fatal
from coevo.model.words import Track
from coevo.snapshots.cutoffs import Cutoff
from tests import segments, snapshots
from tests.evaluation.baselines import submit
from tests.evaluation.shop import Shop
from tests.flows.mining_runs import COEVO, wait_until
from tests.git_server import Fault, GitBackend, serving
from tests.settings_files import settings


@pytest.fixture(scope='module')
def of_three(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2, 3)


@pytest.fixture(scope='module')
def assigned(of_three: Path) -> Sequence[Assignment]:
    """Its tasks, which are those of each copy."""
    return load_assignments(of_three)


@pytest.fixture
def snapshot(of_three: Path, tmp_path: Path) -> Path:
    """Tasks of pairs 1 to 3, of which no repository is anywhere."""
    return Path(shutil.copytree(of_three, tmp_path / 'snapshot'))


def scored(snapshot: Path, *predictions: Prediction, **options: object) -> Evaluation:
    cache = snapshot.parent / 'judged'
    plain = EvaluationOptions(
        snapshot=snapshot, predictions=predictions, cache=cache, adequacy=False
    )
    return evaluate(replace(plain, **options))  # type: ignore[arg-type]


def told(rows: Sequence[MethodResult]) -> set[tuple[str, str | None]]:
    return {(row.outcome, row.detail) for row in rows}


def prediction(task_id: str, patch: bytes | None = b'+') -> Prediction:
    return Prediction(task_id=task_id, patch=patch, model='m', cost_usd=0.5)


# -- without running anything ------------------------------------------------------------------------


def test_task_without_a_prediction_fails_and_is_not_filled_with_gold(
    snapshot: Path, assigned: Sequence[Assignment]
) -> None:
    found = scored(snapshot)
    assert told(found.rows) == {(TaskOutcome.HRNS_FAIL, Detail.NO_PREDICTION)}
    assert {row.task_id for row in found.rows} == {one.task_id for one in assigned}
    assert len(found.rows) == sum(len(one.targets) for one in assigned)


def test_task_without_a_repository_is_infra_and_never_cached(
    snapshot: Path, assigned: Sequence[Assignment]
) -> None:
    task, *_ = assigned
    patch = task.task.test_patch.encode()
    found = scored(snapshot, prediction(task.task_id, patch), tasks=frozenset({task.task_id}))
    assert told(found.rows) == {(TaskOutcome.INFRA, Detail.NO_REPOSITORY)}
    assert '--clones' in found.rows[0].said
    assert not list((snapshot.parent / 'judged').rglob('*'))
    sentences = ' '.join(summarise_evaluation(found, snapshot))
    assert f'{task.task_id} could not be graded (no_repository)' in sentences
    assert 'run the same command to try again' in sentences


def test_task_whose_runtime_is_missing_is_infra_and_never_run(
    snapshot: Path, assigned: Sequence[Assignment], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tests can behave differently under another release, whose verdict would say nothing."""
    monkeypatch.setenv('COEVO_JDKS', '8')
    task, *_ = assigned
    patch = task.task.test_patch.encode()
    found = scored(snapshot, prediction(task.task_id, patch), tasks=frozenset({task.task_id}))
    assert told(found.rows) == {(TaskOutcome.INFRA, Detail.RUNTIME_MISSING)}
    assert 'was made with JDK 17' in found.rows[0].said
    assert 'coevo doctor --install' in found.rows[0].said


def test_bug_in_grading_ends_only_its_task(
    snapshot: Path, assigned: Sequence[Assignment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever it is met; its rows say so, nothing of it is kept as judged, and the next call tries."""
    first, second, *_ = assigned

    def broken(attempt: TaskAttempt) -> GradingResult | None:
        if attempt.assignment.task_id == first.task_id:
            int('\N{SUPERSCRIPT TWO}')
        return grade_if_refused(attempt)

    monkeypatch.setattr(examination, 'grade_if_refused', broken)
    tasks = frozenset({first.task_id, second.task_id})
    found = scored(snapshot, tasks=tasks)
    outcomes = {row.task_id: (row.outcome, row.detail) for row in found.rows}
    assert outcomes == {
        first.task_id: (TaskOutcome.INFRA, Detail.BUG),
        second.task_id: (TaskOutcome.HRNS_FAIL, Detail.NO_PREDICTION),
    }
    (record,) = found.bugs.values()
    assert 'ValueError: invalid literal' in json.loads(Path(record).read_text())['traceback']
    assert f'1 task ended with a bug in coevo; please report {record}' in summarise_evaluation(
        found, tmp_path
    )
    monkeypatch.setattr(examination, 'grade_if_refused', grade_if_refused)
    assert scored(snapshot, tasks=tasks).bugs == {}
    monkeypatch.setattr(examination, 'grade_if_refused', broken)
    submitted = tmp_path / 'predictions' / f'{first.task_id}.patch'
    submitted.parent.mkdir()
    submitted.write_text('--- "a/\\8"\n')
    words = [str(snapshot), str(submitted.parent), '--out', str(tmp_path / 'out')]
    more = settings(tmp_path, cache=tmp_path / 'cache', adequacy=False)
    assert main(['evaluate', *words, *more]) == 1


def test_failing_git_server_is_retried_before_a_task_is_given_up(
    snapshot: Path, assigned: Sequence[Assignment], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('COEVO_CACHE', str(tmp_path / 'cache'))
    task, *_ = assigned
    backend = GitBackend(tmp_path, faults=[Fault(status=503, times=None)])
    with serving(backend) as url:
        there = _with_url(snapshot, f'{url}/example/ferry.git')
        patch = task.task.test_patch.encode()
        found = scored(there, prediction(task.task_id, patch), tasks=frozenset({task.task_id}))
    (row, *_) = found.rows
    assert (row.outcome, row.detail) == (TaskOutcome.INFRA, Detail.NO_REPOSITORY)
    assert 'could not be fetched, or has no' in row.said
    assert len(backend.requests) == ROUNDS  # a server that answers nothing is asked once a round


def _with_url(snapshot: Path, url: str) -> Path:
    """The same snapshot with an address for its repository, released anew."""
    from coevo.storage.store import Store

    store = Store(snapshot.parent / 'elsewhere')
    segments.fill(store, 1, 2, 3)
    target = snapshot.parent / 'with_url'

    def build(rows: object) -> object:
        built = snapshots.build_family(rows)  # type: ignore[arg-type]
        return replace(built, tasks=tuple(replace(task, url=url) for task in built.tasks))

    snapshots.write(store, target, build=build)
    return target


def test_tasks_can_be_named_and_limited_by_date(
    snapshot: Path, assigned: Sequence[Assignment]
) -> None:
    every = assigned
    dated = [one for one in every if one.task.contamination_date is not None]
    first = min(str(one.task.contamination_date)[:10] for one in dated)
    clean = scored(snapshot, cutoff=Cutoff(date=first)).rows
    assert {row.task_id for row in clean} < {one.task_id for one in dated}
    wanted = every[0].task_id
    assert {row.task_id for row in scored(snapshot, tasks=frozenset({wanted})).rows} == {wanted}
    with pytest.raises(Fatal, match="has no task 'nobody'"):
        scored(snapshot, tasks=frozenset({'nobody'}))
    with pytest.raises(Fatal, match='no task is left'):
        scored(snapshot, cutoff=Cutoff(date='2030-01'))


def test_damaged_or_missing_snapshot_is_refused(snapshot: Path) -> None:
    file = next((snapshot / 'data' / 'tasks').glob('*.parquet'))
    file.write_bytes(file.read_bytes()[:-1] + b'x')
    with pytest.raises(Fatal, match=r'failed verification \(file_changed in tasks\)'):
        scored(snapshot)
    shutil.rmtree(snapshot)
    with pytest.raises(Fatal, match='there is no such folder'):
        scored(snapshot)


def test_evaluate_command_writes_results_junit_and_a_report(
    snapshot: Path,
    assigned: Sequence[Assignment],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    task, *_ = assigned
    file, out = tmp_path / 'p.jsonl', tmp_path / 'out'
    file.write_text(json.dumps({'task_id': task.task_id, 'patch': '', 'model': 'm'}))
    words = (
        'evaluate',
        str(snapshot),
        str(file),
        '--out',
        str(out),
        *settings(tmp_path, cache=tmp_path / 'c'),
    )
    assert main(words) == 0
    rows = load_results(out)
    assert told(rows) == {
        (TaskOutcome.HRNS_FAIL, Detail.NO_PREDICTION),
        (TaskOutcome.HRNS_FAIL, Detail.EMPTY),
    }
    suites = ElementTree.parse(out / 'junit.xml').getroot()
    assert suites.get('errors') == str(len(rows)) == suites.get('tests')
    assert json.loads((out / 'report.json').read_text())
    outcomes = duckdb.sql(f"SELECT DISTINCT outcome FROM '{out}/results.parquet'").fetchall()
    assert outcomes == [('hrns_fail',)]
    printed = capsys.readouterr().out
    assert f'{len(assigned) - 1} tasks without a prediction' in printed


@pytest.mark.parametrize(
    ('more', 'complaint'),
    [
        (('--jobs', '0'), "--jobs: '0' must be a whole number of 1 or more"),
        ({'test_seconds': 0}, 'test_seconds must be more than 0, not 0'),
        ({'test_seconds': math.nan}, 'test_seconds must be more than 0, not nan'),
        (('--store', 'nowhere'), 'nowhere is not a folder; give --clones a store'),
        ({'cache': '/dev/null/c'}, 'name another cache'),
        (('--only-tasks', 'nobody'), "has no task 'nobody'"),
        (('--only-tasks', '@nowhere'), 'nowhere cannot be read'),
        ({'margin_days': 3}, 'margin_days and models need a cutoff'),
        ({'pit': True, 'adequacy': False}, 'pit has no effect'),
        (('--sandbox', 'castle'), 'invalid choice'),
    ],
)
def test_bad_options_are_refused(
    snapshot: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...] | dict[str, object],
    complaint: str,
) -> None:
    given = settings(tmp_path, **more) if isinstance(more, dict) else more
    file = tmp_path / 'p.jsonl'
    file.write_text('')
    words = ('evaluate', str(snapshot), str(file), '--out', str(tmp_path / 'out'), *given)
    assert main(words) == 2
    assert complaint in capsys.readouterr().err


def test_cache_with_an_unwritable_part_is_refused(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cache, file = tmp_path / 'cache', tmp_path / 'p.jsonl'
    cache.mkdir()
    (cache / 'judged').symlink_to('/dev/null/judged')
    file.write_text('')
    words = ('evaluate', str(snapshot), str(file), '--out', str(tmp_path / 'out'))
    assert main((*words, *settings(tmp_path, cache=cache))) == 2
    assert 'judged cannot be written to' in capsys.readouterr().err


def test_unwritable_output_folder_is_refused_before_anything_runs(
    snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / 'out').write_text('a file')
    words = ('evaluate', str(snapshot), str(tmp_path), '--out', str(tmp_path / 'out'))
    assert main(words) == 2
    assert 'name another --out' in capsys.readouterr().err


# -- for real ----------------------------------------------------------------------------------------


def gold(shop: Shop) -> list[Prediction]:
    return [shop.gold(track) for track in Track]


def verdicts(rows: Sequence[MethodResult]) -> list[MethodResult]:
    """The rows without what two runs need not have in common."""
    return [replace(row, cpu_seconds=0.0, seconds=0.0, output='', tries=1) for row in rows]


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(900)
def test_judged_tasks_are_recalled_and_changed_patches_are_judged_again(
    shop: Shop, tmp_path: Path
) -> None:
    """Two jobs; one task's patch changes then, and another model has the same answers."""

    def run(*predictions: Prediction) -> Evaluation:
        options = EvaluationOptions(
            snapshot=shop.snapshot,
            predictions=predictions,
            clones=shop.store,
            jobs=2,
            cache=tmp_path / 'cache',
        )
        return evaluate(options)

    first = run(*gold(shop))
    assert (first.judged, first.recalled) == (len(Track), 0)
    assert told(first.rows) == {(TaskOutcome.SUCCESS, None)}
    assert all(row.adequacy is not None for row in first.rows)
    again = run(*(replace(one, model='other', tokens=7) for one in gold(shop)))
    assert (again.judged, again.recalled) == (0, len(Track))
    assert {(row.model, row.tokens) for row in again.rows} == {('other', 7)}
    assert verdicts(again.rows) == [
        replace(row, model='other', tokens=7) for row in verdicts(first.rows)
    ]
    unchanged = [shop.gold(track) for track in Track if track is not Track.REPAIR]
    changed = run(*unchanged, submit(shop, Track.REPAIR, 'fail();'))
    assert (changed.judged, changed.recalled) == (1, len(unchanged))
    outcomes = {row.track: row.outcome for row in changed.rows}
    assert outcomes[Track.REPAIR] is TaskOutcome.EXEC_FAIL
    out = tmp_path / 'out'
    write_evaluation(out, first)
    assert load_results(out) == first.rows


@pytest.mark.jvm
@pytest.mark.timeout(900)
@pytest.mark.slow
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGKILL])
def test_interrupted_evaluation_resumes_where_it_stopped(
    shop: Shop, tmp_path: Path, number: signal.Signals
) -> None:
    folder, cache, out = tmp_path / 'patches', tmp_path / 'cache', tmp_path / 'out'
    folder.mkdir()
    for one in gold(shop):
        assert one.patch is not None
        (folder / f'{one.task_id}.patch').write_bytes(one.patch)
    words = [
        *('env', '--default-signal=INT', COEVO, 'evaluate', shop.snapshot, folder),
        *('--store', shop.store, '--out', out, '--jobs', '1'),
        *settings(tmp_path, cache=cache, adequacy=False),
    ]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_until(lambda: _judged(cache), process)
    process.send_signal(number)
    _, complaint = process.communicate(timeout=600)
    done = _judged(cache)
    assert 0 < done < len(Track)
    assert process.returncode == (130 if number == signal.SIGINT else -number)
    assert not (out / 'results.parquet').exists()
    if number == signal.SIGINT:
        assert 'finished work is kept' in complaint
    after = subprocess.run(words, capture_output=True, text=True, check=True)
    assert (
        f'{pluralise(len(Track) - done, "task")} graded now, {done} graded before' in after.stdout
    )
    assert told(load_results(out)) == {(TaskOutcome.SUCCESS, None)}


def _judged(cache: Path) -> int:
    """Entries that have rows; preconditions have none."""
    files = [file for file in cache.glob('judged/??/*') if '.new-' not in file.name]
    return sum(b'"rows":' in file.read_bytes() for file in files)
