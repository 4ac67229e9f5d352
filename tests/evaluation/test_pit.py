"""PIT beside the other measures: what it says of gold, and of tests that notice less."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.evaluation import Evaluation, evaluate, summarise_evaluation
from coevo.evaluation.ledger import Ledger
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.evaluation.reporting import tables
from coevo.evaluation.reporting.regrading import regrade, regrade_row
from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.results import load_results, write_results
from coevo.evaluation.worth import PitKills
from coevo.model.errors import Fatal
from coevo.model.quality import PitTrouble
from coevo.model.words import Track
from tests import snapshots
from tests.evaluation.rows import ADEQUACY, row
from tests.evaluation.shop import Shop

KILLS = PitKills(count=4, pred=1, gold=3)


def asked(pit: PitKills | None, name: str = 'a.ATest#tests') -> MethodResult:
    return row('task1', name, adequacy=replace(ADEQUACY, pit=pit))


def scored(shop: Shop, cache: Path, prediction: Prediction) -> dict[str, MethodResult]:
    options = EvaluationOptions(
        snapshot=shop.snapshot,
        predictions=[prediction],
        clones=shop.store,
        tasks=frozenset({prediction.task_id}),
        cache=cache,
        pit=True,
    )
    return {row.test_method.partition('#')[2]: row for row in evaluate(options).rows}


def killed(row: MethodResult) -> tuple[int | None, int | None, int | None]:
    assert row.adequacy is not None
    pit = row.adequacy.pit
    assert pit is not None
    assert (pit.trouble_pred, pit.trouble_gold) == (None, None)
    return pit.count, pit.pred, pit.gold


@pytest.mark.slow
@pytest.mark.jvm
@pytest.mark.timeout(900)
def test_pit_kills_are_counted_for_each_method_alone(shop: Shop, tmp_path: Path) -> None:
    # `12 * n` becomes `12 / n`, which one costs the same, or `0`. A neighbour kills both.
    text = shop.starts[Track.UPDATE]
    text = text.replace('assertEquals(10, Till.price(1));', 'assertEquals(12, Till.price(1));')
    text = text.replace('assertEquals(20, Till.price(2));', 'Till.price(2);')

    found = scored(shop, tmp_path, shop.submission(Track.UPDATE, text))

    assert {row.outcome for row in found.values()} == {TaskOutcome.SUCCESS}
    assert {name: killed(row) for name, row in found.items()} == {
        'costs': (2, 1, 1),
        'sums': (2, 0, 2),
    }
    # Gold was not measured when this was mined, so that no strict success can be asked.
    assert {row.success_strict for row in found.values()} == {None}


def test_results_without_a_pit_column_are_read(tmp_path: Path) -> None:
    rows = (asked(None),)
    path = write_results(tmp_path, rows)
    table = pq.read_table(path)
    adequacy = table['adequacy'].combine_chunks()
    fields = [field for field in adequacy.type if field.name != 'pit']
    older = pa.StructArray.from_arrays([adequacy.field(one.name) for one in fields], fields=fields)
    place = table.schema.get_field_index('adequacy')
    pq.write_table(table.set_column(place, 'adequacy', older), path)
    content = path.read_bytes()

    assert load_results(tmp_path) == rows
    assert regrade(tmp_path).tracks[0].pit is None
    assert path.read_bytes() == content


def test_report_has_means_of_pit_kills_and_their_number() -> None:
    late = PitKills(count=4, gold=3, trouble_pred=PitTrouble.TIME)
    none = PitKills(count=0, pred=0, gold=0)
    rows = [
        asked(one, f'a.ATest#{n}')
        for n, one in enumerate((KILLS, replace(KILLS, pred=3), late, none))
    ]
    rows.append(replace(asked(replace(KILLS, pred=4), 'a.ATest#infra'), outcome=TaskOutcome.INFRA))

    (track,) = make_report(rows).tracks

    assert track.pit is not None
    assert (track.pit.pred.value, track.pit.gold.value, track.pit.pred.units) == (0.5, 0.75, 2)
    assert track.pit.troubles == {'time': 1}
    console = Console(record=True, width=200)
    tables.print_report(make_report(rows), console)
    assert (
        'Test update: according to PIT, which decides no outcome, 50.0% of its mutants in '
        'changed methods are killed, by gold 75.0% (over 2 methods)'
    ) in console.export_text()


def test_cost_of_pit_is_summarised_only_where_pit_was_run(tmp_path: Path) -> None:
    rows = (asked(replace(KILLS, cpu_seconds=7.0)), asked(None, 'a.ATest#b'))
    sentences = list(summarise_evaluation(Evaluation(rows=rows, judged=1, recalled=0), tmp_path))

    assert any(sentence.endswith('for adequacy, 7 for PIT') for sentence in sentences)
    sentences = list(
        summarise_evaluation(Evaluation(rows=rows[1:], judged=1, recalled=0), tmp_path)
    )
    assert not any('PIT' in sentence for sentence in sentences)


def test_pit_kills_do_not_change_the_outcome() -> None:
    """A row that claims every kill is what it would be without."""
    claims = asked(PitKills(count=9, pred=9, gold=0))

    assert replace(regrade_row(claims), adequacy=None) == replace(
        regrade_row(asked(None)), adequacy=None
    )


def test_ledger_does_not_keep_rows_with_infra_trouble_of_pit(tmp_path: Path) -> None:
    (assignment, *_) = load_assignments(snapshots.make(tmp_path / 'made', 1))
    ledger = Ledger(folder=tmp_path / 'kept', settings=())
    answer = Prediction(task_id=assignment.task_id, patch=b'a')

    ledger.store_rows(assignment, answer, [asked(PitKills(trouble_gold=PitTrouble.TROUBLE))])
    assert ledger.recall_rows(assignment, answer) is None
    ledger.store_rows(assignment, answer, [asked(PitKills(trouble_gold=PitTrouble.TIME))])
    assert ledger.recall_rows(assignment, answer) is not None


def test_pit_without_adequacy_is_refused(tmp_path: Path) -> None:
    options = EvaluationOptions(snapshot=tmp_path, predictions=(), adequacy=False, pit=True)

    with pytest.raises(Fatal, match='leave out `pit` or `adequacy = false`'):
        evaluate(options)
