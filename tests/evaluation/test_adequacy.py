"""What submitted tests are worth, measured on real JVMs beside gold's numbers of a real mining."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.adequacy import measure
from coevo.evaluation.coverage import Executed
from coevo.evaluation.coverage import executed
from coevo.evaluation.records import Adequacy
from coevo.evaluation.records import TaskOutcome
from coevo.evaluation.strict import oracle_preserved
from coevo.evaluation.strict import success_strict
from coevo.evaluation.strict import vacuous
from coevo.languages.base import Trace
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from tests.evaluation.till import Till
from tests.evaluation.till import opened
from tests.evaluation.till import submitted

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]

SUCCESS = TaskOutcome.SUCCESS
# What JaCoCo keeps of a class, written by the test itself where JaCoCo is at hand.
FORGED = """
    try {
        java.lang.reflect.Method kept = Till.class.getDeclaredMethod("$jacocoInit");
        kept.setAccessible(true);
        java.util.Arrays.fill((boolean[]) kept.invoke(null), true);
    } catch (NoSuchMethodException none) { }
    assertTrue(true);"""


@pytest.fixture(scope='module')
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Till]:
    with opened(tmp_path_factory.mktemp('till')) as till:
        yield till


def adequacy(till: Till, name: str, body: str | None = None, kept: Path | None = None) -> Adequacy:
    content = submitted() if body is None else submitted(**{name: body})
    return measure(till.of(name, content), [f'TillTest#{name}'], kept)[f'TillTest#{name}']


def traced(till: Till, name: str, body: str) -> tuple[Executed, Trace]:
    """What counts of what a test executes, and all that was recorded beside it."""
    scene = till.of(name, submitted(**{name: body}))
    (target,) = (one for one in scene.assignment.targets if one.row.test_method == name)
    bench = Bench(
        workshop=scene.workshop,
        repository=scene.repository,
        pair=scene.pair,
        tests=scene.files,
        budget=100.0,
    )
    test = GoldTest(method_id=name, method=target.method, dependencies=target.row.dependencies)
    counted = executed(scene, bench, [test])[name]
    files = {one.file for one in test.dependencies}
    plain = replace(scene.conditions, observed=False)
    (trace,) = scene.workshop.trace(bench.compile('.'), [test.method], files, plain).traces
    assert trace is not None
    return counted, trace


@pytest.fixture(scope='module')
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the old test kills, kept for all submissions."""
    return tmp_path_factory.mktemp('kept')


@pytest.fixture(scope='module')
def gold_update(till: Till, kept: Path) -> Adequacy:
    return adequacy(till, 'prices', kept=kept)


@pytest.fixture(scope='module')
def gold_generation(till: Till) -> Adequacy:
    return adequacy(till, 'fees')


@pytest.mark.parametrize('name', ['gold_update', 'gold_generation'])
def test_gold_is_worth_what_the_snapshot_says(name: str, request: pytest.FixtureRequest) -> None:
    found = request.getfixturevalue(name)

    assert found.coverage_gold is not None
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    assert found.mutants.pred == found.mutants.gold == found.mutants.both > 0
    assert found.reversals is not None
    assert found.reversals.pred == found.reversals.gold == found.reversals.both > 0
    assert found.smells_pred == found.smells_gold == ('magic_number_test',)
    assert success_strict(SUCCESS, found)
    assert vacuous(SUCCESS, found) is False
    assert oracle_preserved(found) is (True if name == 'gold_update' else None)


def test_a_call_without_an_assertion_is_no_test_of_the_change(till: Till) -> None:
    found = adequacy(till, 'fees', 'new Till().fee(2, false);')

    assert found.executes_delta
    assert found.reaches_assertion is False
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    # a mutant with other parameters does not even compile with it
    assert found.mutants.pred == found.mutants.both == 1 < found.mutants.gold
    assert found.smells_pred == ('unknown_test',)
    assert success_strict(SUCCESS, found) is False
    assert vacuous(SUCCESS, found) is True


def test_an_update_that_asserts_less_loses_what_the_old_test_noticed(
    till: Till, kept: Path, gold_update: Adequacy
) -> None:
    (file,) = kept.iterdir()
    told = file.read_bytes()
    file.write_bytes(told[:-9])

    found = adequacy(till, 'prices', 'assertTrue(new Till().price(2) != 0);', kept)

    assert file.read_bytes() == told  # what was damaged was found out anew
    assert gold_update.oracle is not None
    assert found.oracle is not None
    assert found.oracle.count == gold_update.oracle.count
    assert 0 < found.oracle.lost <= found.oracle.count
    assert oracle_preserved(found) is False


def test_coverage_that_a_test_writes_itself_does_not_count(till: Till) -> None:
    counted, recorded = traced(till, 'fees', FORGED)

    ((lines),) = recorded.lines.values()
    assert all(line.covered_instructions for line in lines)
    assert counted.coverage is not None
    assert counted.coverage.covered_lines == counted.coverage.covered_branches == 0
    assert counted.coverage.covered_methods == 0
    assert counted.executes_delta is False
    assert counted.reaches_assertion


def test_an_assertion_that_is_never_reached_is_none(till: Till) -> None:
    counted, _ = traced(till, 'prices', 'if (new Till().price(1) == 0)\n{\nfail();\n}')

    assert counted.executes_delta
    assert counted.reaches_assertion is False
