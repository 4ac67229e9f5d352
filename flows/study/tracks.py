"""Which labelled methods keep their track, after all that was found out about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from filters import find_no_track_reason
from filters.base import TrackCase
from flows.rows import DecidedMethod
from flows.study.context import PairContext, Study


def withhold_tracks(
    decided: Sequence[DecidedMethod], cases: Mapping[str, TrackCase]
) -> Iterator[DecidedMethod]:
    """The judged, those without their track that a filter takes it from; `build_track_cases` by method id."""
    for item in decided:
        case = cases.get(item.selected.method_id)
        reason = find_no_track_reason(case) if case is not None else None
        if reason is None:
            yield item
        else:
            yield replace(item, decision=replace(item.decision, track=None, no_track=str(reason)))


def build_track_cases(
    context: PairContext, labelled: Sequence[DecidedMethod], found: Study
) -> dict[str, TrackCase]:
    """What the filters of tracks judge by, for each method that would have one."""
    known = {}
    for item in labelled:
        if item.decision.track is not None:
            own = found.methods[item.selected.method_id]
            known[item.selected.method_id] = TrackCase(
                profile=context.tools.profile,
                track=item.decision.track,
                doubt=found.doubts.get(item.selected.method_id),
                isolated=own.isolated,
                guard=own.guard,
                # not asked, where the profile does not want to know
                test_only_refactored=own.test_only_refactored
                if found.knows_refactorings
                else False,
                source_only_refactored=own.source_only_refactored
                if found.knows_refactorings
                else False,
                suite_old=found.suite_old,
                suite_new=found.suite_new,
            )
    return known
