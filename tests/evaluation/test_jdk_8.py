"""A history that JDK 8 alone builds: mined, released, attempted with the kit, and scored with all measures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.command.main import main
from coevo.evaluation.assignments import load_assignments
from coevo.evaluation.evaluation import evaluate
from coevo.evaluation.options import EvaluationOptions
from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.records import MethodResult, Prediction
from coevo.model.words import Label, Outcome, Track
from flows.options import ReleaseOptions
from flows.publication import publish_release
from tests.coevo.languages.java.jvm import jdk_of
from tests.projects import MEASURED, Mined, junit, mined, pom, source, write
from tests.settings_files import settings

pytestmark = [pytest.mark.jvm, pytest.mark.slow, pytest.mark.timeout(1200)]

# `javax.xml.bind` left the JDK with 11. The commits are of 2024.
HEX = """    public static String hex(int price) {
        return javax.xml.bind.DatatypeConverter.printHexBinary(new byte[] { (byte) price });
    }
"""
PRICE = '    public static int price() { return %d; }\n'
TAX = '    public static int tax(int price) { return price > 9 ? price / 5 : 0; }\n'
YEAR = 'java.time.LocalDate.now().getYear()'
HEXES = 'hexes: assertEquals("0A", Till.hex(10));'
PRICES = 'prices: assertEquals(%d, Till.price());'
TAXES = 'taxes: assertEquals(2, Till.tax(10)); assertEquals(0, Till.tax(9));'
STEPS: list[Mapping[str, str | bytes | None]] = [
    {
        'pom.xml': pom(),
        'LICENSE': 'Licensed under the Apache License, Version 2.0\n',
        **source('Till', HEX + PRICE % 1),
        **junit('TillTest', HEXES, PRICES % 1),
        **junit(
            'YearTest',
            f'expires: assertTrue({YEAR} <= 2024 && Till.price() > 0);',
            'errs: assertEquals(3, Till.hex(1).length());',
        ),
    },
    {**source('Till', HEX + PRICE % 2), **junit('TillTest', HEXES, PRICES % 2)},
    {**source('Till', HEX + PRICE % 2 + TAX), **junit('TillTest', HEXES, PRICES % 2, TAXES)},
    {
        **junit(
            'YearTest',
            f'expires: assertTrue({YEAR} >= 2024 && Till.price() > 0);',
            'errs: assertEquals(2, Till.hex(1).length());',
        )
    },
]


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    jdk_of(8)
    return tmp_path_factory.mktemp('old')


@pytest.fixture(scope='module')
def history(folder: Path) -> Mined:
    found = mined(
        write(folder / 'repository', STEPS),
        folder / 'store',
        profile=MEASURED,
    )
    publish_release(ReleaseOptions(store=folder / 'store', snapshot=folder / 'snapshot'))
    return found


def test_jdk_8_history_gets_the_usual_labels_and_guards(history: Mined) -> None:
    assert {(pair.runtime or '')[:4] for pair in history.pairs} == {'1.8.'}
    labels = {row.test_method: row.label for row in history.methods}
    assert labels == {
        'prices': Label.UPDATE,
        'taxes': Label.GENERATION,
        'errs': Label.REPAIR,
        'expires': Label.REPAIR,
    }
    of_2024 = history.method('expires').guard
    assert of_2024 is not None
    assert (of_2024.clock_t_old_c_old, of_2024.clock_t_new_c_new) == (Outcome.PASS, Outcome.PASS)
    assert history.method('expires').track is None
    assert history.method('errs').track is Track.REPAIR


def test_gold_on_jdk_8_is_a_strict_success_in_all_measures(history: Mined, folder: Path) -> None:
    tasks = load_assignments(folder / 'snapshot')
    gold = [
        Prediction(task_id=one.task.task_id, patch=one.task.test_patch.encode()) for one in tasks
    ]
    options = EvaluationOptions(
        snapshot=folder / 'snapshot',
        predictions=gold,
        clones=folder / 'store',
        cache=folder / 'kept',
        pit=True,
    )
    rows = {row.test_method.rpartition('#')[2]: row for row in evaluate(options).rows}
    assert rows.keys() == {'prices', 'taxes', 'errs'}
    for row in rows.values():
        assert (row.outcome, row.success_strict) == (
            TaskOutcome.SUCCESS,
            row.track is not Track.REPAIR or None,
        ), row
    assert worth(rows['taxes']) == (True, True, True)


def worth(row: MethodResult) -> tuple[bool, bool, bool]:
    """Whether lines, our mutants and PIT's have figures, and gold's are those of gold."""
    found = row.adequacy
    assert found is not None
    assert found.mutants is not None
    assert found.pit is not None
    return (
        found.coverage_pred == found.coverage_gold,
        found.mutants.pred == found.mutants.gold > 0,
        found.pit.pred == found.pit.gold > 0,
    )


def test_agent_on_jdk_8_compiles_and_runs_tests_with_its_kit(
    history: Mined, folder: Path, tmp_path: Path
) -> None:
    """Offline, with Maven, on the JDK of the task: its start state passes there."""
    out = tmp_path / 'attempts'
    (task,) = (
        one.task
        for one in load_assignments(folder / 'snapshot')
        if 'taxes' in one.task.test_methods[0]
    )
    said = 'java -version 2>&1 | grep -q 1.8.0'
    run = f'{said} && mvn -q -o test -Dtest=TillTest'
    write_it = f"{run} && printf '\\n' >> src/test/java/shop/TillTest.java"
    status = main(
        [
            *('run', str(folder / 'snapshot'), '--agent', write_it),
            *('--store', str(folder / 'store'), '--only-tasks', task.task_id, '--out', str(out)),
            *settings(folder, grade=False),
        ]
    )
    assert status == 0
    (line,) = (out / 'predictions.jsonl').read_text().splitlines()
    assert json.loads(line)['patch']
