"""What submitted tests are worth, measured on real JVMs beside gold's numbers of a real mining."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.evaluation.measuring.coverage import Executed
from coevo.evaluation.measuring.coverage import executed
from coevo.evaluation.records import Adequacy
from coevo.evaluation.records import MethodResult
from coevo.evaluation.records import TaskOutcome
from coevo.languages.base import Trace
from coevo.measures.bench import Bench
from coevo.measures.bench import GoldTest
from tests.evaluation.till import TESTS
from tests.evaluation.till import Till
from tests.evaluation.till import opened
from tests.evaluation.till import submitted

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(900)]

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


def judged(till: Till, name: str, body: str) -> tuple[MethodResult, Adequacy]:
    row = till.judged(name, submitted(**{name: body}))
    assert row.adequacy is not None
    return row, row.adequacy


def traced(till: Till, name: str, body: str) -> tuple[Executed, Trace]:
    """What counts of what a test executes, and all that was recorded beside it."""
    scene = till.scene(name, submitted(**{name: body}))
    till.workshop.build(scene.pair)
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
def gold(till: Till) -> dict[str, MethodResult]:
    return {name: till.judged(name, submitted()) for name in TESTS}


@pytest.mark.parametrize('name', TESTS)
def test_gold_is_worth_what_the_snapshot_says(gold: dict[str, MethodResult], name: str) -> None:
    found = gold[name].adequacy

    assert found is not None
    assert found.coverage_gold is not None
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    assert found.mutants.pred == found.mutants.gold == found.mutants.both > 0
    assert found.reversals is not None
    assert found.reversals.pred == found.reversals.gold == found.reversals.both > 0
    assert found.smells_pred == found.smells_gold == ('magic_number_test',)
    assert (gold[name].outcome, gold[name].success_strict) == (TaskOutcome.SUCCESS, True)
    assert gold[name].vacuous is False
    assert gold[name].oracle_preserved is (True if name == 'prices' else None)


def test_a_call_without_an_assertion_is_no_test_of_the_change(till: Till) -> None:
    row, found = judged(till, 'fees', 'new Till().fee(2, false);')

    assert found.executes_delta
    assert found.reaches_assertion is False
    assert found.coverage_pred == found.coverage_gold
    assert found.mutants is not None
    # a mutant with other parameters does not even compile with it
    assert found.mutants.pred == found.mutants.both == 1 < found.mutants.gold
    assert found.smells_pred == ('unknown_test',)
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)
    assert row.vacuous is True


def test_an_update_that_asserts_less_loses_what_the_old_test_noticed(
    till: Till, gold: dict[str, MethodResult]
) -> None:
    (file,) = till.kept.iterdir()
    told = file.read_bytes()
    file.write_bytes(told[:-9])

    row, found = judged(till, 'prices', 'assertTrue(new Till().price(2) != 0);')

    assert file.read_bytes() == told  # what was damaged was found out anew
    by_gold = gold['prices'].adequacy
    assert by_gold is not None
    assert by_gold.oracle is not None
    assert found.oracle is not None
    assert 0 < found.oracle.lost <= found.oracle.count == by_gold.oracle.count
    assert row.oracle_preserved is False
    # It passes on the new code, which is all that the paper asks; undoing the change leaves it green.
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)


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
