"""The sum of A.4: over the dependencies of the task, whatever a method of it executes."""

from __future__ import annotations

from dataclasses import replace

from coevo.languages.verdicts import CoveredLine, Trace
from coevo.measures.coverage import measure_each_method
from coevo.model.dependencies import CoupledBy, Dependency, DependencyList, Revised
from coevo.model.method_rows import MethodRow
from coevo.model.words import MethodChange
from packagers.task_commands import TaskDependencies
from packagers.tasks import compute_coverage_by_method
from tests import segments

FILE = 'src/main/java/p/Shop.java'


def dependency(name: str, first: int, last: int, by: CoupledBy) -> Dependency:
    return Dependency(
        name=f'p.Shop#{name}()',
        declaration=f'int {name}()',
        file=FILE,
        start_line=first,
        end_line=last,
        revised=Revised.MODIFIED,
        executed_new=True,
        coupled_by=by,
        rank=1,
    )


SELL = dependency('sell', 1, 4, CoupledBy.CALL)  # two of four lines have code
TAX = dependency('tax', 5, 9, CoupledBy.CALL)  # three of five
LOG = dependency('log', 10, 12, CoupledBy.EXECUTION)


def line(number: int, *, hit: bool) -> CoveredLine:
    return CoveredLine(
        line=number,
        missed_instructions=int(not hit),
        covered_instructions=int(hit),
        missed_branches=0,
        covered_branches=0,
    )


def row(name: str, hits: set[int], *dependencies: Dependency) -> MethodRow:
    lines = tuple(line(number, hit=number in hits) for number in (2, 3, 6, 7, 8, 11))
    covered = measure_each_method(dependencies, Trace(executed=(), lines={FILE: lines}))
    return replace(
        segments.method(1, name, MethodChange.CHANGED, segments.UPDATE),
        dependencies=dependencies,
        dependency_list=DependencyList.CALLED,
        covered_dependencies=covered,
    )


SELLS = row('sells', {2, 3, 11}, SELL, LOG)
TAXES = row('taxes', {6, 7}, TAX)
UNTRACED = replace(row('untraced', set(), SELL), covered_dependencies=None)


def test_each_method_is_measured_on_all_dependencies_of_its_task() -> None:
    rows = [SELLS, TAXES, UNTRACED]

    found = compute_coverage_by_method(rows, TaskDependencies.from_rows(rows).listed_dependencies)

    assert set(found) == {SELLS.method_id, TAXES.method_id}
    sells, taxes = found[SELLS.method_id], found[TAXES.method_id]
    assert (sells.lines, sells.known_lines, sells.covered_lines) == (9, 5, 2)
    assert (taxes.lines, taxes.known_lines, taxes.covered_lines) == (9, 5, 2)
    assert (sells.methods, sells.covered_methods) == (2, 1)
    assert (sells.line_coverage, sells.code_coverage) == (2 / 9, 2 / 5)


def test_merely_executed_dependencies_count_if_no_method_calls_any() -> None:
    deep = replace(row('deep', {11}, LOG), dependency_list=DependencyList.EXECUTED)

    assert TaskDependencies.from_rows([deep]).which is DependencyList.EXECUTED
    assert TaskDependencies.from_rows([deep]).listed_dependencies == (LOG,)
    (found,) = compute_coverage_by_method(
        [deep], TaskDependencies.from_rows([deep]).listed_dependencies
    ).values()
    assert (found.lines, found.known_lines, found.covered_lines) == (3, 1, 1)
    assert TaskDependencies.from_rows([deep, TAXES]).listed_dependencies == (TAX,)


def test_dependency_called_by_one_method_counts_as_called_for_the_task() -> None:
    by_other = replace(SELL, coupled_by=CoupledBy.EXECUTION)
    rows = [row('other', set(), by_other), SELLS]

    assert {
        one.name: one.coupled_by for one in TaskDependencies.from_rows(rows).listed_dependencies
    } == {SELL.name: CoupledBy.CALL}
