"""Predictions in every form, and what is said of bad ones."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.evaluation.predictions import load_predictions
from coevo.evaluation.records import Prediction
from coevo.model.errors import Fatal

KNOWN = frozenset({'t1', 't2'})
FULL: dict[str, Any] = {
    'task_id': 't1',
    'patch': '--- a\n+++ b\n',
    'model': 'm',
    'harness': 'h',
    'exit_status': 'submitted',
    'cost_usd': 0.5,
    'tokens': 1200,
    'seconds': 3.5,
}
READ = Prediction(
    task_id='t1',
    patch=b'--- a\n+++ b\n',
    model='m',
    harness='h',
    exit_status='submitted',
    cost_usd=0.5,
    tokens=1200,
    seconds=3.5,
)


def lines(folder: Path, *rows: object) -> Path:
    path = folder / 'predictions.jsonl'
    path.write_text(''.join(f'{json.dumps(row)}\n' for row in rows))
    return path


def test_predictions_are_read_from_json_lines(tmp_path: Path) -> None:
    path = lines(tmp_path, {'task_id': 't2', 'patch': None, 'exit_status': 1, 'extra': []}, FULL)
    assert load_predictions(path, KNOWN) == (
        READ,
        Prediction(task_id='t2', patch=None, exit_status='1'),
    )


def test_predictions_are_read_from_parquet(tmp_path: Path) -> None:
    path = tmp_path / 'predictions.parquet'
    pq.write_table(pa.Table.from_pylist([FULL, {**FULL, 'task_id': 't2', 'patch': None}]), path)
    assert load_predictions(path, KNOWN)[0] == READ
    table = pa.table({'task_id': ['t1'], 'patch': [b'\xff']})
    pq.write_table(table, path)
    assert load_predictions(path, KNOWN) == (Prediction(task_id='t1', patch=b'\xff'),)


def test_byte_order_mark_and_decimals_in_predictions_are_accepted(tmp_path: Path) -> None:
    """A mark at the beginning of a file; decimals, as DuckDB has them."""
    path = tmp_path / 'predictions.jsonl'
    path.write_text(f'\ufeff{json.dumps(FULL)}\n')
    assert load_predictions(path, KNOWN) == (READ,)
    path = tmp_path / 'predictions.parquet'
    pq.write_table(pa.Table.from_pylist([{**FULL, 'cost_usd': Decimal('0.5')}]), path)
    assert load_predictions(path, KNOWN) == (READ,)


def test_predictions_are_read_from_a_folder_of_patches(tmp_path: Path) -> None:
    (tmp_path / 't2.diff').write_bytes(b'two\xff')
    (tmp_path / 't1.patch').write_bytes(b'one')
    (tmp_path / '.DS_Store').write_bytes(b'')
    assert load_predictions(tmp_path, KNOWN) == (
        Prediction(task_id='t1', patch=b'one'),
        Prediction(task_id='t2', patch=b'two\xff'),
    )


def test_several_attempts_with_whole_files_are_read_in_order(tmp_path: Path) -> None:
    first = {'task_id': 't1', 'file': 'class T {}', 'seed': -3, 'protocol': 'diversify'}
    second = {'task_id': 't1', 'file': None, 'patch': None, 'attempt': 2, 'protocol': 'diversify'}
    found = load_predictions(lines(tmp_path, second, first), KNOWN)
    assert [(one.attempt, one.seed, one.patch, one.file) for one in found] == [
        (1, -3, None, b'class T {}'),
        (2, None, None, None),
    ]
    assert {one.protocol for one in found} == {'diversify'}
    assert len({one.digest for one in found}) == 2
    assert load_predictions(lines(tmp_path, second, first), KNOWN, 1) == found[:1]


def test_first_attempts_are_selected_from_tasks_with_unequal_attempts(tmp_path: Path) -> None:
    rows = [{'task_id': 't1', 'patch': '', 'attempt': n} for n in (1, 2, 3)]
    path = lines(tmp_path, *rows, {'task_id': 't2', 'patch': ''})
    found = load_predictions(path, KNOWN, 1)
    assert [(one.task_id, one.attempt) for one in found] == [('t1', 1), ('t2', 1)]
    feedback = [{**row, 'protocol': 'feedback'} for row in rows]
    last = {'task_id': 't2', 'patch': '', 'protocol': 'feedback'}
    assert len(load_predictions(lines(tmp_path, *feedback, last), KNOWN)) == 4


def test_attempts_are_read_from_numbered_files_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / 't1.patch').write_bytes(b'one')
    (tmp_path / 't1.2.file').write_bytes(b'two')
    found = load_predictions(tmp_path, KNOWN)
    assert found == (
        Prediction(task_id='t1', patch=b'one'),
        Prediction(task_id='t1', patch=None, file=b'two', attempt=2),
    )
    (tmp_path / 't1.1.file').write_bytes(b'three')
    with pytest.raises(Fatal, match='answers t1 twice, in attempt 1; keep one'):
        load_predictions(tmp_path, KNOWN)


def test_patch_with_lone_surrogates_is_read_without_an_error(tmp_path: Path) -> None:
    path = lines(tmp_path, {'task_id': 't1', 'patch': '\udcff\ud800'})
    assert load_predictions(path, KNOWN)[0].patch is not None


@pytest.mark.parametrize(
    ('rows', 'complaint'),
    [
        (['[]'], 'line 1 is not a JSON object'),
        (['{'], 'line 1 is not valid JSON; write one object on each line'),
        (['', '{"task_id": "t1"}'], "line 2 has no 'patch'"),
        (['{"patch": ""}'], "line 1 has no 'task_id'"),
        (['{"task_id": 1, "patch": ""}'], 'a task_id that is not text: 1'),
        (['{"task_id": "t1", "patch": 1}'], 'a patch that is not text'),
        (['{"task_id": "t3", "patch": ""}'], "answers 't3', which is not a task of the snapshot"),
        (['{"task_id": "t1", "patch": ""}'] * 2, 'answers t1 twice'),
        (
            ['{"task_id": "t1", "patch": "", "cost_usd": "1"}'],
            "a cost_usd that is not a number: '1'",
        ),
        (['{"task_id": "t1", "patch": "", "tokens": true}'], 'a tokens that is not a number'),
        (
            ['{"task_id": "t1", "patch": "", "seconds": -1}'],
            'a seconds with an impossible value: -1',
        ),
        (
            ['{"task_id": "t1", "patch": "", "cost_usd": NaN}'],
            'a cost_usd with an impossible value: nan',
        ),
        (
            ['{"task_id": "t1", "patch": "", "cost_usd": 1%s}' % ('0' * 400)],
            'a cost_usd with an impossible',
        ),
        (
            ['{"task_id": "t1", "patch": "", "tokens": 1e30}'],
            'a tokens with an impossible value: 1e\\+30',
        ),
        (['{"task_id": "t1", "patch": "", "model": 5}'], 'a model that is not text: 5'),
        (['{"task_id": "t1", "patch": "", "model": "\\ud800"}'], 'a model that is not text'),
        ([''], 'has no predictions'),
        (['{"task_id": "t1", "patch": "", "file": ""}'], 'both a patch and a file'),
        (['{"task_id": "t1", "file": 1}'], 'a file that is not text'),
        (['{"task_id": "t1", "patch": "", "attempt": 0}'], 'an impossible attempt: 0'),
        (['{"task_id": "t1", "patch": "", "attempt": 1.5}'], 'an impossible attempt: 1.5'),
        (['{"task_id": "t1", "patch": "", "attempt": true}'], 'an impossible attempt: True'),
        (['{"task_id": "t1", "patch": "", "attempt": 1000000}'], 'an impossible attempt'),
        (
            ['{"task_id": "t1", "patch": "", "seed": "7"}'],
            'a seed that is not a whole number of 64 bits',
        ),
        (
            ['{"task_id": "t1", "patch": "", "seed": 1%s}' % ('0' * 30)],
            'a seed that is not a whole',
        ),
        (
            ['{"task_id": "t1", "patch": "", "protocol": "twice"}'],
            "an unknown protocol: 'twice'",
        ),
        (
            ['{"task_id": "t1", "patch": ""}', '{"task_id": "t1", "patch": "", "attempt": 3}'],
            'answers t1 in attempt 3 but not in attempt 2; number attempts from 1 without gaps',
        ),
        (
            ['{"task_id": "t1", "patch": "", "attempt": 2}'],
            'answers t1 in attempt 2 but not in attempt 1',
        ),
        (
            ['{"task_id": "t1", "patch": ""}']
            + ['{"task_id": "t1", "patch": "", "attempt": 2}'] * 2,
            'answers t1 twice, in attempt 2;',
        ),
        (
            [
                '{"task_id": "t1", "patch": ""}',
                '{"task_id": "t1", "patch": "", "attempt": 2}',
                '{"task_id": "t2", "patch": ""}',
            ],
            'answers t1 2 times and t2 1 times; answer each task equally often',
        ),
        (
            [
                '{"task_id": "t1", "patch": ""}',
                '{"task_id": "t2", "patch": "", "protocol": "feedback"}',
            ],
            'attempts of several protocols (feedback, once); evaluate each protocol by itself',
        ),
    ],
)
def test_bad_prediction_lines_are_refused(tmp_path: Path, rows: list[str], complaint: str) -> None:
    path = tmp_path / 'predictions.jsonl'
    path.write_text('\n'.join(rows))
    with pytest.raises(Fatal, match=complaint.replace('(', '\\(').replace(')', '\\)')):
        load_predictions(path, KNOWN)


def test_bad_prediction_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='does not exist'):
        load_predictions(tmp_path / 'nowhere', KNOWN)
    path = tmp_path / 'p.parquet'
    path.write_bytes(b'PAR1')
    with pytest.raises(Fatal, match='cannot be read as Parquet'):
        load_predictions(path, KNOWN)
    pq.write_table(pa.table({'task_id': ['t1']}), path)
    with pytest.raises(Fatal, match="has no 'patch'"):
        load_predictions(path, KNOWN)
    twice = pa.table([['t1'], ['x'], ['y']], names=['task_id', 'patch', 'patch'])
    pq.write_table(twice, path)
    with pytest.raises(Fatal, match=r'cannot be read as Parquet: [^\n]*patch[^\n]*\Z'):
        load_predictions(path, KNOWN)
    path = tmp_path / 'p.jsonl'
    path.write_bytes(b'\xff')
    with pytest.raises(Fatal, match='not UTF-8'):
        load_predictions(path, KNOWN)


def test_bad_prediction_folders_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match='is empty'):
        load_predictions(tmp_path, KNOWN)
    (tmp_path / 't1.txt').write_text('')
    with pytest.raises(Fatal, match='is not a patch'):
        load_predictions(tmp_path, KNOWN)
