"""Which labelled methods keep their track, after all that was found out about them."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import replace

from filters import why_no_track
from filters.base import TrackCase
from flows.rows import Judged


def withheld(judged: Sequence[Judged], cases: Mapping[str, TrackCase]) -> Iterator[Judged]:
    """The judged, those without their track that a filter takes it from; `cases` by method id."""
    for item in judged:
        case = cases.get(item.wanted.method_id)
        reason = why_no_track(case) if case is not None else None
        if reason is None:
            yield item
        else:
            yield replace(item, decision=replace(item.decision, track=None, no_track=str(reason)))
