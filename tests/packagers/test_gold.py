"""The worth of a task's gold test, by the construction of the paper's appendix A.6."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import replace

import pytest

from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage, Mutation
from coevo.model.words import MethodChange
from packagers.tasks import GoldMeasures, compute_gold_measures
from tests import segments

Row = tuple[MethodRow, Coverage | None]


def row(covered: tuple[int, int] | None, killed: tuple[int | None, int, int] | None) -> Row:
    """A method with covered of so many lines, and killed of so many mutants, some not run."""
    coverage = covered and Coverage(
        lines=covered[1],
        covered_lines=covered[0],
        known_lines=2 * covered[0],
        branches=0,
        covered_branches=0,
        methods=1,
        covered_methods=1,
    )
    mutation = killed and Mutation(
        emitted=killed[1],
        compile_failed=0,
        redundant=0,
        capped_out=0,
        not_checked=0,
        count=killed[1],
        equal_compiled=0,
        not_run=killed[2],
        killed=killed[0],
    )
    made = segments.method(1, 'a', MethodChange.CHANGED, segments.UPDATE)
    return replace(made, mutation=mutation or None), coverage or None


def adequacy_of(rows: Sequence[Row]) -> GoldMeasures:
    named = [(replace(row, method_id=str(n)), covered) for n, (row, covered) in enumerate(rows)]
    covered = {row.method_id: found for row, found in named if found is not None}
    return compute_gold_measures([row for row, _ in named], covered)


def test_wide_means_count_unmeasured_methods_as_zero() -> None:
    found = adequacy_of(
        [
            row((3, 4), (1, 2, 0)),  # 0.75, 0.5
            row((1, 4), (2, 2, 0)),  # 0.25, 1
            row((0, 5), (0, 3, 0)),  # 0, 0: measured, and nothing
            row((0, 0), (0, 0, 0)),  # no line and no mutant: no measurement
            row(None, None),
        ]
    )
    assert found.coverage == pytest.approx(1 / 5)
    assert found.coverage_success == pytest.approx(1 / 3)
    assert found.code_coverage == pytest.approx(1 / 5)
    assert found.code_coverage_success == pytest.approx(1 / 2)
    assert found.mutation_score == pytest.approx(1.5 / 5)
    assert found.mutation_score_success == pytest.approx(1.5 / 3)


def test_method_with_unrun_mutants_is_excluded_from_the_mutation_means() -> None:
    found = adequacy_of(
        [row((1, 2), (1, 2, 0)), row((1, 2), (None, 4, 4)), row((1, 2), (None, 2, 0))]
    )
    assert found.mutation_score == pytest.approx(0.5 / 2)
    assert found.mutation_score_success == pytest.approx(0.5)
    alone = adequacy_of([row((1, 2), (None, 4, 4))])
    assert (alone.mutation_score, alone.mutation_score_success) == (None, None)


def test_means_without_any_measurement_are_none_and_not_zero() -> None:
    found = adequacy_of([row(None, None), row(None, None)])
    assert dataclasses.astuple(found) == (None,) * 6


def test_method_without_mutants_has_a_wide_mutation_score_of_zero() -> None:
    """As in the paper: the wide form conflates it with killing none."""
    found = adequacy_of([row((1, 2), (None, 3, 0))])
    assert (found.mutation_score, found.mutation_score_success) == (0, None)
    assert (found.coverage, found.coverage_success) == (0.5, 0.5)
