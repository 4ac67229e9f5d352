"""Tests of one module against changed sources of another."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.mutants import measure_mutants
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import Revised
from coevo.model.quality import ReversalStatus
from coevo.model.records import TestMethod
from coevo.model.words import Outcome
from tests.coevo.languages.java.maven.test_processors import LEVEL_8
from tests.coevo.languages.java.maven.test_shapes import JUNIT4, module, root, sibling
from tests.coevo.measures.shop import dependency, opened
from tests.projects import junit, source

pytestmark = pytest.mark.jvm

PATH = 'core/src/main/java/shop/Price.java'


def below(folder: str, files: dict[str, str]) -> dict[str, str]:
    return {f'{folder}/{path}': text for path, text in files.items()}


def price(value: str) -> dict[str, str]:
    body = f'    public static int of() {{\n        return {value};\n    }}\n'
    return below('core', source('Price', body))


STEPS = (
    {
        'pom.xml': root('core', 'app'),
        'core/pom.xml': module('core', '', LEVEL_8),
        **price('1'),
        'app/pom.xml': module('app', sibling('core') + JUNIT4, LEVEL_8),
    },
    {**price('3 - 1'), **below('app', junit('AppTest', 'of: assertEquals(2, Price.of());'))},
)
TEST = GoldTest(
    method_id='of',
    method=TestMethod(
        module='app',
        test_file='app/src/test/java/shop/AppTest.java',
        test_class='shop.AppTest',
        test_method='of',
    ),
    dependencies=(dependency(PATH, STEPS[1][PATH], 'of', Revised.MODIFIED),),
)


@pytest.fixture(scope='module')
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedCellRunner]:
    with opened(tmp_path_factory.mktemp('reactor'), STEPS) as runner:
        yield runner


@pytest.mark.slow
def test_mutants_of_another_module_are_killed(runner: EditedCellRunner) -> None:
    measured = measure_mutants(runner, [TEST])

    by_text = {row.mutated.strip(): row for row in measured.rows}
    assert {row.file for row in measured.rows} == {PATH}
    changed = [row for row in by_text.values() if not row.equal_compiled]
    assert len(changed) > 3
    assert {row.outcome for row in changed} <= {Outcome.FAIL, Outcome.ERROR}


def test_an_undone_method_of_another_module_is_detected(runner: EditedCellRunner) -> None:
    (row,) = measure_reversals(runner, [TEST])

    assert (row.status, row.outcome) == (ReversalStatus.DETECTED, Outcome.FAIL)
