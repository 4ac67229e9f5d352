"""Study a pair's labelled methods beyond their cells, while the builds of the pair are available.

execution     what each method executes, its changed dependencies, and its coverage of them
texts         smells and assertions
track_checks  for methods that would have a track: isolated cells, refactorings, guards of repairs,
              suites; then filters remove some tracks

What the tests are worth that keep their track is measured afterwards (`flows.measuring`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from coevo.model.method_rows import MethodRow
from flows.rows import DecidedMethod, build_method_row
from flows.study.context import PairContext, Study, Tools
from flows.study.execution import trace_and_find_changed_dependencies
from flows.study.texts import add_text_measures
from flows.study.track_checks import (
    build_track_cases,
    collect_track_evidence,
    remove_rejected_tracks,
)

__all__ = ['PairContext', 'Study', 'Tools', 'study_pair']


def study_pair(context: PairContext, decided: Sequence[DecidedMethod], sandbox: str) -> Study:
    """Study the decided methods of a pair beyond their cells, and return the results.

    `decided` of the result has the decisions again; a method that loses its track has the reason
    there.
    """
    labelled = [item for item in decided if item.decision.reason is None]
    rows = (build_method_row(context.pair, item, context.evaluation, sandbox) for item in labelled)
    pair_study = Study(methods={row.method_id: row for row in rows})
    changed = trace_and_find_changed_dependencies(context, labelled, pair_study)
    for item in labelled:
        method_id, candidate = item.selected.method_id, item.selected.candidate
        pair_study.methods[method_id] = add_text_measures(
            pair_study.methods[method_id], context.tools.repository, context.pair, candidate
        )
    collect_track_evidence(context, decided, changed, pair_study)
    pair_study.decided = tuple(
        remove_rejected_tracks(decided, build_track_cases(context, labelled, pair_study))
    )
    for item in pair_study.decided:
        method_id = item.selected.method_id
        if method_id in pair_study.methods:
            row = replace(pair_study.methods[method_id], track=item.decision.track)
            pair_study.methods[method_id] = _drop_coverage_traced_with_siblings(row, pair_study)
    return pair_study


def _drop_coverage_traced_with_siblings(row: MethodRow, pair_study: Study) -> MethodRow:
    """Return a row without coverage if it has a track and its start state removes siblings.

    The trace of its cell shows the test beside them; measuring traces it without them.
    """
    if row.track is None or not pair_study.tests.get(row.method_id):
        return row
    return replace(row, coverage=None, covered_dependencies=None)
