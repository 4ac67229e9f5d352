"""What each method of a task covers of the task's dependencies (TestEvo-Bench, A.4, Eq. 1).

Mining sees what a method covers of its own dependencies. What its neighbours alone depend on it does
not execute, or it would depend on it, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from coevo.measures.coverage import make_key, measure_with_others
from coevo.model.dependencies import Dependency
from coevo.model.method_rows import MethodRow
from coevo.model.quality import Coverage


def compute_task_coverages(
    rows: Sequence[MethodRow], dependencies: Sequence[Dependency]
) -> dict[str, Coverage]:
    """By method id, of those that were traced at new; none where the task has no such dependency.

    dependencies  of the task: those of the list that it goes by
    """
    seen = {
        make_key(coverage): coverage for row in rows for coverage in row.covered_dependencies or ()
    }
    coverages = {
        row.method_id: measure_with_others(dependencies, row.covered_dependencies, seen)
        for row in rows
        if row.covered_dependencies is not None
    }
    return {
        method_id: coverage for method_id, coverage in coverages.items() if coverage is not None
    }
