"""Compute the funnel of a release."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from coevo.model.labels import TRACKS
from coevo.model.words import Stage, Walk
from packagers.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class FunnelStep:
    """One stage: entered = kept + the sum of dropped, in the stage's unit."""

    stage: Stage
    entered: int
    kept_count: int
    dropped: tuple[tuple[str, int], ...]  # most frequent first


def compute_funnel(rows: Rows) -> Iterator[FunnelStep]:
    """Yield the steps of a release's funnel in the order of stages.

    The unit changes from pairs to methods to tasks. A task of several pairs counts once. The stage of test files is left out if none was
    mined.
    """
    dropped_pairs: set[tuple[str, Walk]] = set()
    reasons: dict[Stage, Counter[str]] = {stage: Counter() for stage in Stage}
    for drop in rows.drops:
        reasons[drop.stage][drop.reason] += 1
        if drop.stage is Stage.PAIR:
            dropped_pairs.add((drop.key, drop.walk))
    filtered = sum(
        pair.candidates for pair in rows.pairs if (pair.pair_id, pair.walk) not in dropped_pairs
    )
    drops = {stage: counts.total() for stage, counts in reasons.items()}
    kept_counts = {
        Stage.WALK: sum(row.commits_kept for row in rows.repositories),
        Stage.PAIR: len(rows.pairs) - drops[Stage.PAIR],
        Stage.FILTER: filtered - drops[Stage.FILTER],
        Stage.LABEL: len(rows.methods) + drops[Stage.PUBLISH],
        Stage.PUBLISH: len(rows.methods),
        Stage.TRACK: sum(row.label in TRACKS for row in rows.methods) - drops[Stage.TRACK],
        Stage.SINGLE_REVISION: sum(row.task_id is not None for row in rows.single_revision),
        Stage.TASK: len(rows.tasks),
    }
    for stage in Stage:
        if stage is Stage.SINGLE_REVISION and not rows.single_revision and not drops[stage]:
            continue  # no test files of single revisions were mined
        ordered = sorted(reasons[stage].items(), key=lambda item: (-item[1], item[0]))
        yield FunnelStep(
            stage=stage,
            entered=kept_counts[stage] + drops[stage],
            kept_count=kept_counts[stage],
            dropped=tuple(ordered),
        )
