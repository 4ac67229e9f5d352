"""PIT beside the other measures: what it says of gold, and of tests that notice less."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.errors import Fatal
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import Options
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import Prediction
from coevo.evaluation.records import TaskOutcome
from coevo.records import Track
from tests.evaluation.shop import Shop


def scored(shop: Shop, cache: Path, prediction: Prediction) -> dict[str, MethodResult]:
    options = Options(
        snapshot=shop.snapshot,
        predictions=[prediction],
        store=shop.store,
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


@pytest.mark.jvm
@pytest.mark.timeout(900)
def test_each_method_alone_kills_what_pit_says(shop: Shop, tmp_path: Path) -> None:
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
    assert found['sums'].success_strict is False


def test_it_is_asked_beside_the_other_measures_alone(tmp_path: Path) -> None:
    options = Options(snapshot=tmp_path, predictions=(), adequacy=False, pit=True)

    with pytest.raises(Fatal, match='leave out --no-adequacy'):
        evaluate(options)
