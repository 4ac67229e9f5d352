"""Measure the adequacy of gold tests: coverage, mutants, and undone changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from coevo.engine.results import Step
from coevo.languages.cells import CellEdits
from coevo.languages.conditions import RunConditions
from coevo.measures.edited_cells import EditedCellRunner, GoldTest
from coevo.measures.mutants import measure_mutants
from coevo.measures.reversals import measure_reversals
from coevo.model.dependencies import select_dependencies
from flows.study.context import PairContext, Study
from flows.study.execution import add_coverage, list_new_files
from miners.diffs.delta import Delta


def measure_usefulness(context: PairContext, changed: Mapping[str, Delta], found: Study) -> None:
    """Run mutants and undone changes for methods that keep their track; store the rows in `found`.

    Each gets half of the runs that the profile allows. Mutants are made of the list of dependencies
    that the profile chooses, undone changes of all dependencies.
    """
    tests = [
        GoldTest(
            method_id=item.selected.method_id,
            method=item.selected.candidate.new,
            dependencies=changed[item.selected.method_id].dependencies,
            tests=found.tests.get(item.selected.method_id, ()),
        )
        for item in found.decided
        if item.decision.track is not None and item.selected.candidate.new is not None
    ]
    lists = {test.method_id: found.methods[test.method_id].dependency_list for test in tests}
    listed_tests = [
        replace(test, dependencies=select_dependencies(test.dependencies, lists[test.method_id]))
        for test in tests
    ]
    most_runs = context.tools.profile.measure_runs // 2
    if not tests or not most_runs:
        return
    runner = _make_runner(context)
    mutated = measure_mutants(runner, listed_tests, most_runs)
    context.evaluation.cost.add(Step.MUTANTS, runner.cpu_seconds, len(mutated.rows))
    found.mutants = mutated.rows
    for method_id, mutation in mutated.mutations.items():
        found.methods[method_id] = replace(found.methods[method_id], mutation=mutation)
    runner = _make_runner(context)
    found.reversals = measure_reversals(runner, tests, most_runs)
    context.evaluation.cost.add(Step.REVERSALS, runner.cpu_seconds, len(found.reversals))


def measure_coverage(context: PairContext, changed: Mapping[str, Delta], found: Study) -> None:
    """Measure the coverage of new tests whose siblings are removed, and store it in `found`.

    For tests without removed siblings the trace of their cell has shown it already.
    """
    if not context.is_traced:
        return
    new = context.pair.new.rev
    conditions = RunConditions(override=context.evaluation.override)
    for item in found.decided:
        method_id, method = item.selected.method_id, item.selected.candidate.new
        files = found.tests.get(method_id, ())
        if item.decision.track is None or method is None or not files:
            continue
        edits = CellEdits(tests=files)
        compiled = context.built.compile(new, new, method.module, edits=edits, methods=(method,))
        sources = list_new_files(context.change)
        traced = context.built.trace(compiled, [method], sources, conditions)
        context.evaluation.cost.add(Step.TRACE, compiled.cpu_seconds + traced.cpu_seconds)
        (trace,) = traced.traces
        known = found.methods[method_id]
        if trace is None:
            found.methods[method_id] = replace(known, coverage=None, covered_dependencies=None)
        else:
            found.methods[method_id] = add_coverage(known, changed[method_id], trace)


def _make_runner(context: PairContext) -> EditedCellRunner:
    return EditedCellRunner(
        built=context.built,
        repository=context.tools.repository,
        override=context.evaluation.override,
    )
