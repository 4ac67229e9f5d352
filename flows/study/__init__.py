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
from flows.study.adequacy import cover
from flows.study.adequacy import measure
from flows.study.context import PairContext
from flows.study.context import Study
from flows.study.context import Tools
from flows.study.execution import trace
from flows.study.texts import with_texts
from flows.study.track_checks import check_tracks
from flows.study.tracks import cases
from flows.study.tracks import withheld

__all__ = ['PairContext', 'Study', 'Tools', 'study']


def study(context: PairContext, decided: Sequence[DecidedMethod]) -> Study:
    """Study the judged methods of a pair; those that lose their track say why."""
    labelled = [item for item in decided if item.decision.reason is None]
    found = Study(methods={item.selected.method_id: MethodFindings() for item in labelled})
    changed = trace(context, labelled, found)
    for item in labelled:
        method_id, candidate = item.selected.method_id, item.selected.candidate
        found.methods[method_id] = with_texts(
            found.methods[method_id], context.tools.repository, context.pair, candidate
        )
    check_tracks(context, decided, changed, found)
    found.decided = tuple(withheld(decided, cases(context, labelled, found)))
    cover(context, changed, found)
    measure(context, changed, found)
    return found
