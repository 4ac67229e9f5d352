from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.results import NAME, load_results, write_results
from coevo.model.errors import Fatal
from coevo.model.schema import build_arrow_schema
from tests.evaluation.rows import ADEQUACY, row

GOLDEN = Path(__file__).parent.parent / 'golden'


def test_results_columns_match_the_golden_schema() -> None:
    """If this fails on purpose, raise RESULTS_VERSION where readers break, and say so in CHANGELOG."""
    golden = GOLDEN / 'results.schema'
    assert (
        f'{build_arrow_schema(MethodResult).to_string(show_field_metadata=False)}\n'
        == golden.read_text()
    )


def test_results_are_read_back_sorted_and_written_with_the_same_bytes(tmp_path: Path) -> None:
    rows = [row('b', adequacy=ADEQUACY), row('a', outcome=TaskOutcome.INFRA), row('a', 'a.ATest#a')]
    path = write_results(tmp_path, rows)
    first = path.read_bytes()
    assert load_results(tmp_path) == (rows[2], rows[1], rows[0])
    write_results(tmp_path, rows[::-1])
    assert path.read_bytes() == first


def test_unreadable_results_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match=f'has no {NAME}'):
        load_results(tmp_path)
    pq.write_table(pa.table({'task_id': ['a']}), tmp_path / NAME)
    with pytest.raises(Fatal, match='results of version'):
        load_results(tmp_path)
    (tmp_path / NAME).write_bytes(b'PAR1')
    with pytest.raises(Fatal, match='cannot be read'):
        load_results(tmp_path)


def test_digest_of_a_prediction_depends_on_its_task_and_patch() -> None:
    one = Prediction(task_id='a', patch=b'x')
    assert one.digest == Prediction(task_id='a', patch=b'x', model='m', cost_usd=1.0).digest
    others = [Prediction(task_id='b', patch=b'x'), Prediction(task_id='a', patch=b'y')]
    others += [Prediction(task_id='a', patch=None), Prediction(task_id='a', patch=b'')]
    assert len({one.digest, *(other.digest for other in others)}) == 5
