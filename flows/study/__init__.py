"""What is found out about a pair's labelled methods beside their cells, while its builds are at hand.

execution     what each executes, hence its changed dependencies and what it covers of them
texts         smells and assertions
suspicions    for those that would have a track: isolated cells, refactorings, guards of repairs, suites
tracks        filters take some of them away
worth         for those that keep theirs, where their siblings are gone: what they cover, mutants,
              and each changed method undone
"""

from __future__ import annotations

from collections.abc import Sequence

from flows.rows import Judged
from flows.study.execution import trace
from flows.study.scene import PairScene
from flows.study.scene import Study
from flows.study.scene import Tools
from flows.study.suspicions import suspect
from flows.study.texts import text_columns
from flows.study.tracks import cases
from flows.study.tracks import withheld
from flows.study.worth import cover
from flows.study.worth import measure

__all__ = ['PairScene', 'Study', 'Tools', 'study']


def study(scene: PairScene, judged: Sequence[Judged]) -> Study:
    """Study the judged methods of a pair; those that lose their track say why."""
    labelled = [item for item in judged if item.decision.reason is None]
    found = Study(columns={item.wanted.method_id: {} for item in labelled})
    changed = trace(scene, labelled, found)
    for item in labelled:
        found.columns[item.wanted.method_id] |= text_columns(
            scene.tools.repository, scene.pair, item.wanted.candidate
        )
    suspect(scene, judged, changed, found)
    found.judged = tuple(withheld(judged, cases(scene, labelled, found)))
    cover(scene, changed, found)
    measure(scene, changed, found)
    return found
