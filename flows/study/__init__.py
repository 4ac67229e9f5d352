"""What is found out about a pair's labelled methods beside their cells, while its builds are at hand.

execution     what each executes, hence its changed dependencies and what it covers of them
texts         smells and assertions
track_checks  for those that would have a track: isolated cells, refactorings, guards of repairs, suites
tracks        filters take some of them away
adequacy      for those that keep theirs, where their siblings are gone: what they cover, mutants,
              and each changed method undone
"""

from __future__ import annotations

from collections.abc import Sequence

from flows.findings import MethodFindings
from flows.rows import DecidedMethod
from flows.study.adequacy import measure_coverage, measure_usefulness
from flows.study.context import PairContext, Study, Tools
from flows.study.execution import trace_methods
from flows.study.texts import add_text_findings
from flows.study.track_checks import check_tracks
from flows.study.tracks import build_track_cases, withhold_tracks

__all__ = ['PairContext', 'Study', 'Tools', 'study_pair']


def study_pair(context: PairContext, decided: Sequence[DecidedMethod]) -> Study:
    """Study the judged methods of a pair; those that lose their track say why."""
    labelled = [item for item in decided if item.decision.reason is None]
    pair_study = Study(methods={item.selected.method_id: MethodFindings() for item in labelled})
    changed = trace_methods(context, labelled, pair_study)
    for item in labelled:
        method_id, candidate = item.selected.method_id, item.selected.candidate
        pair_study.methods[method_id] = add_text_findings(
            pair_study.methods[method_id], context.tools.repository, context.pair, candidate
        )
    check_tracks(context, decided, changed, pair_study)
    pair_study.decided = tuple(
        withhold_tracks(decided, build_track_cases(context, labelled, pair_study))
    )
    measure_coverage(context, changed, pair_study)
    measure_usefulness(context, changed, pair_study)
    return pair_study
