"""Mutants of the lines that a pair added, made, compiled and run for real."""

from __future__ import annotations

from collections.abc import Iterator

import psutil
import pytest

from coevo.measures.edited_cells import EditedCellRunner, find_module
from coevo.measures.mutant_sets import CAP
from coevo.measures.mutants import (
    BASELINE_RUNS,
    MutantMeasures,
    find_added_dependency_lines,
    measure_mutants,
)
from coevo.model.dependencies import Revised
from coevo.model.quality import MutantRow, Mutation
from coevo.model.words import Outcome
from tests.coevo.measures.shop import NEW, PATH, gold, opened
from tests.projects import source

pytestmark = [pytest.mark.jvm, pytest.mark.timeout(600)]

TEXT = source('Shop', NEW)[PATH]
STRONG = gold('strong', price=Revised.MODIFIED)
WEAK = gold('weak', price=Revised.MODIFIED, toString=Revised.REMOVED)
# Two methods of one file, which share its ten mutants.
TAXES = gold('taxes', price=Revised.MODIFIED, tax=Revised.INSERTED)
# What javac makes of these is what it makes of `return 0 + 0;`.
ZEROS = ('return 0 - 0;', 'return 0 * 0;')
FAILS = gold('fails', price=Revised.MODIFIED)


@pytest.fixture(scope='module')
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditedCellRunner]:
    with opened(tmp_path_factory.mktemp('shop')) as runner:
        yield runner


@pytest.fixture(scope='module')
def measured(runner: EditedCellRunner) -> MutantMeasures:
    return measure_mutants(runner, [STRONG, WEAK, FAILS])


@pytest.fixture(scope='module')
def drawn(runner: EditedCellRunner) -> MutantMeasures:
    """No more than the mutants: there are no runs to use them in."""
    return measure_mutants(runner, [STRONG, TAXES], most_runs=0)


def rows(measured: MutantMeasures, name: str) -> list[MutantRow]:
    return [row for row in measured.rows if row.method_id == name]


def counts(measured: MutantMeasures, name: str) -> Mutation:
    found = measured.mutations[name]
    assert found is not None
    return found


def line_of(text: str) -> int:
    return next(n for n, line in enumerate(TEXT.splitlines(), 1) if text in line)


def test_only_added_lines_of_dependencies_are_mutated(runner: EditedCellRunner) -> None:
    first, last = line_of('int sum = n + n'), line_of('return sum;')

    lines = find_added_dependency_lines(runner, STRONG)[PATH]

    # The signature and the closing brace stood there before; which brace is the diff's to say.
    assert set(range(first, last + 1)) - lines <= {last - 1}
    assert not lines & {line_of('price(int n)'), line_of('return 7;'), line_of('return price(1)')}
    assert line_of('return price(1)') in find_added_dependency_lines(runner, TAXES)[PATH]


@pytest.mark.parametrize('name', ['strong', 'weak', 'fails'])
def test_every_emitted_mutant_is_accounted_for(measured: MutantMeasures, name: str) -> None:
    found = counts(measured, name)

    told = found.count + found.compile_failed + found.redundant + found.capped_out
    assert found.emitted == told + found.not_checked
    assert found.count == len(rows(measured, name)) == CAP
    assert found.compile_failed > 0
    assert found.capped_out > 0
    assert found.equal_compiled == sum(row.equal_compiled for row in rows(measured, name))


def test_the_mutant_cap_is_shared_by_methods_of_a_file(
    runner: EditedCellRunner, drawn: MutantMeasures
) -> None:
    lines = find_added_dependency_lines(runner, TAXES)[PATH]

    assert {row.line for row in rows(drawn, 'taxes')} <= lines
    assert counts(drawn, 'taxes').emitted > counts(drawn, 'strong').emitted
    assert counts(drawn, 'taxes').count == CAP


def test_tests_of_the_same_lines_have_the_same_mutants(measured: MutantMeasures) -> None:
    ids = [[row.mutant_id for row in rows(measured, name)] for name in ('strong', 'weak')]

    assert ids[0] == ids[1]
    assert len(set(ids[0])) == CAP


def test_an_asserting_test_kills_more_mutants_than_one_without_assertions(
    measured: MutantMeasures,
) -> None:
    strong, weak = counts(measured, 'strong'), counts(measured, 'weak')

    assert strong.killed is not None
    assert weak.killed is not None
    assert weak.killed < strong.killed
    assert strong.score == strong.killed / CAP
    for row in rows(measured, 'strong'):
        assert row.killed is (row.outcome is not Outcome.PASS)
        assert (row.signature is None) is (row.outcome is Outcome.PASS)
    killers = {row.signature for row in rows(measured, 'strong') if row.killed}
    assert any(signature and 'ShopTest' in signature for signature in killers)


def test_a_mutant_with_the_original_byte_code_is_never_killed(measured: MutantMeasures) -> None:
    folded = [row for row in rows(measured, 'strong') if row.mutated.strip() in ZEROS]

    assert folded
    assert all(row.equal_compiled and not row.killed for row in folded)
    assert counts(measured, 'strong').equal_compiled < CAP


def test_a_test_that_does_not_pass_alone_gets_no_mutation_score(measured: MutantMeasures) -> None:
    assert counts(measured, 'fails').killed is None
    assert counts(measured, 'fails').score is None
    assert {row.killed for row in rows(measured, 'fails')} == {None}


def test_a_budget_of_no_runs_runs_no_mutant(drawn: MutantMeasures) -> None:
    assert counts(drawn, 'strong').not_run == CAP
    assert counts(drawn, 'strong').killed is counts(drawn, 'strong').score is None
    assert {row.outcome for row in drawn.rows} == {None}


@pytest.mark.slow
def test_a_test_is_run_on_all_of_its_mutants_or_on_none(
    runner: EditedCellRunner, measured: MutantMeasures
) -> None:
    enough_for_one = 2 * (CAP + BASELINE_RUNS) - 1

    few = measure_mutants(runner, [WEAK, STRONG], enough_for_one)

    assert counts(few, 'strong') == counts(measured, 'strong')
    assert rows(few, 'strong') == rows(measured, 'strong')
    assert (counts(few, 'weak').not_run, counts(few, 'weak').score) == (CAP, None)


def test_two_draws_give_equal_mutants(runner: EditedCellRunner, drawn: MutantMeasures) -> None:
    assert measure_mutants(runner, [STRONG, TAXES], most_runs=0) == drawn


def test_a_test_without_mutable_lines_has_no_mutants(runner: EditedCellRunner) -> None:
    measured = measure_mutants(runner, [gold('names', toString=Revised.REMOVED)])

    assert counts(measured, 'names').emitted == counts(measured, 'names').killed == 0
    assert measured.rows == ()


def test_an_endless_mutant_is_killed_with_all_its_processes(runner: EditedCellRunner) -> None:
    loop = 'int sum = n + n; while (sum == n + n) { n = n + 0; }'
    text = TEXT.replace('int sum = n + n;', loop).encode()
    compiled = runner.compile('.', (PATH, text))
    before = {process.pid for process in psutil.Process().children(recursive=True)}

    verdict = runner.run_alone(compiled, STRONG.method, 10.0)

    assert verdict.outcome is Outcome.TIMEOUT
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_a_file_belongs_to_the_innermost_module() -> None:
    modules = ['.', 'core', 'core/api']

    assert find_module(modules, 'core/api/src/A.java') == 'core/api'
    assert find_module(modules, 'core/apis/A.java') == 'core'
    assert find_module(modules, 'src/A.java') == '.'
    assert find_module(['core'], 'src/A.java') is None
