"""Compute the funnel of a repository's partitions.

It says what entered and left each stage, with reasons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from coevo.languages.verdicts import RAN
from coevo.model.drops import Drop
from coevo.model.labels import TRACKS
from coevo.model.reasons import Reason
from coevo.model.segment import Segment
from coevo.model.words import Stage
from packagers.funnel import FunnelStep


def build_funnel(walk_drops: Sequence[Drop], segments: Sequence[Segment]) -> Iterator[FunnelStep]:
    """Yield the steps of the funnel, from commits to methods with a track.

    If test files were looked at, the last step counts those that a family takes. Tasks are counted
    at release.
    """
    drops = [drop for segment in segments for drop in segment.drops]
    rows = [row for segment in segments for row in segment.methods]
    yield _build_step(
        Stage.WALK, len({(s.pair.language, s.pair.new_rev) for s in segments}), walk_drops
    )
    pairs = [d for d in drops if d.stage is Stage.PAIR]
    yield _build_step(Stage.PAIR, len(segments) - len({d.key for d in pairs}), pairs)
    filtered = [d for d in drops if d.stage is Stage.FILTER]
    yield _build_step(
        Stage.FILTER, sum(s.pair.candidates for s in segments) - len(filtered), filtered
    )
    yield _build_step(Stage.LABEL, len(rows), [d for d in drops if d.stage is Stage.LABEL])
    labelled = [row for row in rows if row.label in TRACKS]
    lost = [d for d in drops if d.stage is Stage.TRACK]
    yield _build_step(Stage.TRACK, len(labelled) - len(lost), lost)
    taken = [
        row for segment in segments for row in segment.single_revision if row.adequacy is not None
    ]
    others = [d for d in drops if d.stage is Stage.SINGLE_REVISION]
    if taken or others:
        yield _build_step(Stage.SINGLE_REVISION, len(taken), others)


def _build_step(stage: Stage, kept: int, drops: Sequence[Drop]) -> FunnelStep:
    counts = Counter(drop.reason for drop in drops)
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return FunnelStep(
        stage=stage, entered=kept + len(drops), kept_count=kept, dropped=tuple(ordered)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class UmpireCounts:
    """Counts of the umpire, which is the project's own test command.

    asked   revisions (ends of pairs) for which the command was to be run
    ran     revisions for which it ran
    methods test methods that were run
    unlike  methods about which the command disagrees
    """

    asked: int
    ran: int
    methods: int
    unlike: int

    @property
    def sentence(self) -> str:
        """The counts as a sentence; empty if the command was to be run for no revision."""
        if not self.asked:
            return ''
        share = 100 * self.unlike / self.methods if self.methods else 0.0
        return (
            f"the project's own command ran for {self.ran} of {self.asked} revisions; it disagrees"
            f' about {self.unlike} of {self.methods} methods ({share:.1f} %)'
        )


def count_project_command_results(segments: Sequence[Segment]) -> UmpireCounts:
    """Count for how many revisions the project's own command ran, and where it disagrees."""
    statuses = [
        status
        for segment in segments
        for status in (segment.pair.umpire_old, segment.pair.umpire_new)
        if status is not None
    ]
    labelled = [d for s in segments for d in s.drops if d.stage is Stage.LABEL]
    return UmpireCounts(
        asked=len(statuses),
        ran=statuses.count(RAN),
        methods=sum(len(segment.methods) for segment in segments) + len(labelled),
        unlike=sum(drop.reason == Reason.UNLIKE_THE_PROJECT for drop in labelled),
    )


def count_labels(segments: Sequence[Segment]) -> tuple[tuple[str, int], ...]:
    """Return the number of methods with each label, most frequent first."""
    counts = Counter(str(row.label) for segment in segments for row in segment.methods if row.label)
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
