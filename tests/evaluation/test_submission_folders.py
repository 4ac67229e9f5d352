"""A folder that is handed in: what is checked of it, and what a second evaluation says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.options import verify_and_get_sha256
from coevo.evaluation.outcomes import Detail, TaskOutcome
from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.reporting.regrading import regrade_row
from coevo.evaluation.reporting.report import make_report, write_report
from coevo.evaluation.results import load_results, write_results
from coevo.evaluation.submission.checks import compare_with_claim, load_claim
from coevo.evaluation.submission.folder import find_submission, load_metadata, load_submission
from coevo.model.errors import Fatal
from tests import snapshots
from tests.evaluation.rows import row
from tests.settings_files import settings

SCHEMA = json.loads(
    files('coevo.evaluation.submission').joinpath('submission.schema.json').read_bytes()
)


@pytest.fixture(scope='module')
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return snapshots.make(tmp_path_factory.mktemp('made'), 1, 2)


@pytest.fixture(scope='module')
def good(snapshot: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A good submission; its results are rows that nobody had to run."""
    folder = tmp_path_factory.mktemp('good') / 'mine'
    (folder / 'logs').mkdir(parents=True)
    sha256 = verify_and_get_sha256(snapshot)
    metadata = {
        'submission_version': 1,
        'harness': 'Test agent',
        'model': 'gpt-4.1',
        'snapshot_sha256': sha256,
        'url': 'https://example.org/agent',
        'contact': 'somebody@example.org',
        'attempts': 1,
        'network': False,
    }
    (folder / 'submission.json').write_text(json.dumps(metadata))
    lines, rows = [], []
    for number, one in enumerate(load_assignments(snapshot)):
        said: dict[str, Any] = {'harness': 'Test agent', 'model': 'gpt-4.1'}
        prediction = Prediction(task_id=one.task_id, patch=b'--- a\n', **said)
        lines.append(json.dumps({'task_id': one.task_id, 'patch': '--- a\n', **said}))
        if number % 2:
            (folder / 'logs' / f'{one.task_id}.jsonl').write_text('{}\n')
        else:
            (folder / 'logs' / one.task_id).mkdir()
            (folder / 'logs' / one.task_id / 'trajectory.json').write_text('{}\n')
        rows += [
            regrade_row(
                row(
                    one.task_id,
                    target.name,
                    TaskOutcome.HRNS_FAIL,
                    detail=Detail.MALFORMED,
                    injected=False,
                    new=None,
                    compiled=None,
                    module_compiled=None,
                    method_id=target.row.method_id,
                    track=one.task.track,
                    snapshot_sha256=sha256,
                    prediction_sha256=prediction.digest,
                    model_cutoff='2024-06-01',
                    model_cutoff_source='https://platform.openai.com/docs/models',
                    **said,
                )
            )
            for target in one.targets
        ]
    (folder / 'predictions.jsonl').write_text('\n'.join(lines) + '\n')
    _judge(folder, rows)
    return folder


@pytest.fixture
def folder(good: Path, tmp_path: Path) -> Path:
    """A copy of the good one, for a test to change."""
    return Path(shutil.copytree(good, tmp_path / 'mine'))


def _judge(folder: Path, rows: list[MethodResult]) -> None:
    write_results(folder / 'results', rows)
    write_report(folder / 'results', rows)


def _change(folder: Path, **fields: Any) -> None:
    path = folder / 'submission.json'
    path.write_text(json.dumps(json.loads(path.read_bytes()) | fields))


def test_good_submission_is_called_good_and_its_hashes_are_printed(
    folder: Path, snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(['submit', '--check', str(folder), '--snapshot', str(snapshot)]) == 0
    told = capsys.readouterr().out
    report = make_report(load_results(folder / 'results'))
    assert f'outcomes_sha256 {report.outcomes_sha256}' in told
    assert f'predictions_sha256 {report.predictions_sha256}' in told
    assert 'after 2024-06-01, the training cutoff of gpt-4.1, and leaves out' in told
    assert told.endswith(f'{folder}: good\n')
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads((folder / 'submission.json').read_bytes()), SCHEMA)


def _no_log(folder: Path) -> None:
    for path in (folder / 'logs').glob('*.jsonl'):
        path.write_text('')


def _other_patch(folder: Path) -> None:
    path = folder / 'predictions.jsonl'
    path.write_text(path.read_text().replace('--- a', '--- b', 1))


def _other_name(folder: Path) -> None:
    path = folder / 'predictions.jsonl'
    path.write_text(path.read_text().replace('Test agent', 'Another', 1))


def _better_rows(folder: Path) -> None:
    """Somebody writes a success into the results, where a refusal was seen."""
    rows = list(load_results(folder / 'results'))
    rows[0] = replace(rows[0], outcome=TaskOutcome.SUCCESS, success_strict=True)
    _judge(folder, rows)


def _better_report(folder: Path) -> None:
    path = folder / 'results' / 'report.json'
    path.write_text(path.read_text().replace('"value": 0.0', '"value": 1.0', 1))


def _other_cutoff(folder: Path) -> None:
    rows = load_results(folder / 'results')
    _judge(folder, [replace(one, model_cutoff='2020-01') for one in rows])


WRONG: dict[str, Callable[[Path], None]] = {
    'logs/ has no log for': _no_log,
    'the results grade another patch for': _other_patch,
    "is by 'Another' with 'gpt-4.1', and submission.json says": _other_name,
    'contradict the observations that it records': _better_rows,
    'report.json does not follow from results.parquet': _better_report,
    'another training cutoff of gpt-4.1 than 2024-06-01': _other_cutoff,
    'platform.openai.com/docs/models says 2024-06-01': lambda folder: _change(
        folder, cutoff='2020-01', cutoff_source='https://example.org/cutoff'
    ),
    'the results belong to another snapshot': lambda folder: _change(
        folder, snapshot_sha256='0' * 64
    ),
    'has no results.parquet': lambda folder: shutil.rmtree(folder / 'results'),
    'results has no report.json; `coevo report regrade` writes it': lambda folder: (
        folder / 'results' / 'report.json'
    ).unlink(),
    'is not valid JSON; write one object on each line': lambda folder: (
        (folder / 'predictions.jsonl').write_text('{') and None
    ),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize('sentence', WRONG)
def test_defect_of_a_submission_is_reported_in_a_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str], sentence: str
) -> None:
    WRONG[sentence](folder)
    assert main(['submit', '--check', str(folder)]) == 1
    told = capsys.readouterr().out
    assert sentence in told
    assert told.endswith('not valid: see above\n')


@pytest.mark.parametrize(
    ('fields', 'sentence'),
    [
        ({'attempts': 0}, 'attempts is 0'),
        ({'attempts': True}, 'attempts is True'),
        ({'network': 1}, 'not true or false'),
        ({'model': ' '}, 'model is empty'),
        ({'url': 'http://example.org'}, 'not an https'),
        ({'snapshot_sha256': 'ab'}, 'is not a SHA-256'),
        ({'submission_version': 2}, 'has version 2'),
        ({'cutoff': '2024-01'}, 'cutoff and cutoff_source belong together'),
        ({'best_of': 5}, "has 'best_of', which is not a field"),
    ],
)
def test_metadata_against_the_schema_are_refused_by_loader_and_schema(
    folder: Path, fields: dict[str, Any], sentence: str
) -> None:
    _change(folder, **fields)
    with pytest.raises(Fatal, match=sentence):
        load_metadata(folder)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(json.loads((folder / 'submission.json').read_bytes()), SCHEMA)


def test_folder_with_two_prediction_sets_is_refused_and_a_file_is_no_submission(
    folder: Path,
) -> None:
    (folder / 'predictions').mkdir()
    with pytest.raises(Fatal, match='has 2 of predictions'):
        load_submission(folder)
    assert find_submission(folder / 'predictions.jsonl') is None
    assert find_submission('gold') is None


def test_declared_cutoff_counts_only_for_a_model_unknown_to_coevo(folder: Path) -> None:
    own = {'cutoff': '2024-02', 'cutoff_source': 'https://example.org/ours'}
    _change(folder, model='our-model', **own)
    (model,) = load_metadata(folder).extra_models
    assert (model.names, model.cutoff) == (('our-model',), '2024-02')
    _change(folder, model='gpt-4.1')
    assert load_metadata(folder).extra_models == ()


def test_a_cutoff_that_is_stated_later_needs_no_second_evaluation(
    folder: Path, snapshot: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = {'model': 'our-model', 'model_cutoff': None, 'model_cutoff_source': None}
    _judge(folder, [replace(each, **own) for each in load_results(folder / 'results')])
    lines = (folder / 'predictions.jsonl').read_text().replace('gpt-4.1', 'our-model')
    (folder / 'predictions.jsonl').write_text(lines)
    stated = ('--cutoff', '2024-02', '--cutoff-source', 'https://example.org/ours')
    assert main(['submit', '--new', str(folder), *stated]) == 0
    assert main(['submit', '--check', str(folder), '--snapshot', str(snapshot)]) == 0
    assert 'good' in capsys.readouterr().out
    assert {each.model_cutoff for each in load_results(folder / 'results')} == {'2024-02'}


def test_comparison_with_the_claim_states_agreement_or_differences(folder: Path) -> None:
    claim = load_claim(load_submission(folder))
    assert claim is not None
    rows = load_results(folder / 'results')
    again = [replace(one, seconds=7.0, output='other') for one in rows]
    (sentence,) = compare_with_claim(claim, make_report(again), again)
    assert sentence == f'the outcomes match the submission: {claim.outcomes_sha256}'
    again[0] = replace(again[0], outcome=TaskOutcome.SUCCESS, success_strict=True)
    told = list(compare_with_claim(claim, make_report(again), again))
    assert 'differ' in told[0]
    assert told[1:] == [
        f'{rows[0].task_id} {rows[0].test_method}: success, strict here, hrns_fail there'
    ]
    fewer = again[1:]
    assert 'other test methods' in list(compare_with_claim(claim, make_report(fewer), fewer))[1]
    shutil.rmtree(folder / 'results')
    assert load_claim(load_submission(folder)) is None


@pytest.mark.slow
def test_evaluating_the_submission_folder_gives_the_claimed_hashes(
    folder: Path, snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Patches that are no diff are refused as they stand, so nothing has to be run or cloned."""
    words = ['evaluate', str(snapshot), str(folder)]
    words += settings(tmp_path, cache=tmp_path / 'cache', leaking=True, interleaved=True)
    assert main([*words, '--out', str(tmp_path / 'again')]) == 0
    claimed = make_report(load_results(folder / 'results'))
    again = make_report(load_results(tmp_path / 'again'))
    assert again.outcomes_sha256 == claimed.outcomes_sha256
    assert again.predictions_sha256 == claimed.predictions_sha256
    assert again.systems[0].cutoff == '2024-06-01'
    told = ' '.join(capsys.readouterr().out.split())
    assert f'the outcomes match the submission: {claimed.outcomes_sha256}' in told
    _better_rows(folder)
    assert main([*words, '--out', str(tmp_path / 'third')]) == 1
    differ = 'the outcomes differ from those of the submission'
    assert differ in ' '.join(capsys.readouterr().out.split())
    # Written anew, its own results are not held against it.
    assert main([*words, '--out', str(folder / 'results')]) == 0
    assert 'of the submission' not in capsys.readouterr().out


def test_predictions_of_the_submission_folder_are_loaded(folder: Path, snapshot: Path) -> None:
    known = {one.task_id for one in load_assignments(snapshot)}
    submission = load_submission(folder)
    assert len(load_predictions(submission.predictions, known)) == len(known)


def test_submission_for_a_private_snapshot_is_refused(
    folder: Path, snapshot: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    private = Path(shutil.copytree(snapshot, tmp_path / 'private'))
    content = json.loads((private / 'manifest.json').read_bytes())
    (private / 'manifest.json').write_text(json.dumps({**content, 'private': True}))
    assert main(['submit', '--check', str(folder), '--snapshot', str(private)]) == 1
    assert f'{private} is private' in capsys.readouterr().out
