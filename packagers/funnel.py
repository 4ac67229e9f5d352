"""The funnel of a release: what entered each stage, what it kept, and why the rest left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from coevo.model.labels import TRACKS
from coevo.model.records import Stage
from packagers.rows import Rows


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedStep:
    """entered = kept + the sum of dropped, in the stage's unit."""

    stage: Stage
    entered: int
    kept: int
    dropped: tuple[tuple[str, int], ...]  # most frequent first


def funnel(rows: Rows) -> Iterator[ReleasedStep]:
    """The stages in order. From pairs to methods to tasks the unit changes."""
    dropped_pairs = {(d.key, d.walk) for d in rows.drops if d.stage is Stage.PAIR}
    sieved = sum(
        pair.candidates for pair in rows.pairs if (pair.pair_id, pair.walk) not in dropped_pairs
    )
    drops = Counter(drop.stage for drop in rows.drops)
    kept = {
        Stage.WALK: sum(row.commits_kept for row in rows.repositories),
        Stage.PAIR: len(rows.pairs) - drops[Stage.PAIR],
        Stage.SIEVE: sieved - drops[Stage.SIEVE],
        Stage.LABEL: len(rows.methods) + drops[Stage.PUBLISH],
        Stage.PUBLISH: len(rows.methods),
        Stage.TRACK: sum(row.label in TRACKS for row in rows.methods) - drops[Stage.TRACK],
        Stage.TASK: sum(1 + len(task.also_at) for task in rows.tasks),
    }
    for stage in Stage:
        reasons = Counter(drop.reason for drop in rows.drops if drop.stage is stage)
        ordered = sorted(reasons.items(), key=lambda item: (-item[1], item[0]))
        yield ReleasedStep(
            stage=stage,
            entered=kept[stage] + drops[stage],
            kept=kept[stage],
            dropped=tuple(ordered),
        )
