"""Keep a bounded sample of the unchanged tests with a changed dependency.

With a gate, the diff of the pair has drawn them already. Without one, the sample is drawn with the
pair as seed: the profile's `unchanged_sample` is the bound if only the source changes, its
`unchanged_limit` if the tests change, too.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.records import Candidate, compute_candidate_id
from coevo.model.words import MethodChange
from filters.base import FilterCase


class Reason(Choice):
    """Why an unchanged test is dropped."""

    NOT_SAMPLED = 'not_sampled', 'An unchanged test outside the seeded sample that is run.'


def find_drop_reason(case: FilterCase, candidate: Candidate) -> Reason | None:
    """Return a reason if the candidate is an unchanged test beyond the sample."""
    profile = case.profile
    if candidate.change is not MethodChange.UNCHANGED or profile.gate is not None:
        return None
    size = profile.unchanged_limit if case.change.tests_changed else profile.unchanged_sample
    if (
        size is None
        or compute_candidate_id(case.change.pair, candidate) in case.unchanged_in_drawn_order[:size]
    ):
        return None
    return Reason.NOT_SAMPLED
