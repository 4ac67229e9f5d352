"""Keep bounded samples of the tests whose own text did not change: they are labelled, but never tasks.

Unchanged tests with a changed dependency: with a gate, the diff of the pair has drawn them already.
Without one, the profile's `unchanged_sample` is the bound if only the source changes, its
`unchanged_limit` if the tests change, too. Context-changed tests, of which only fixtures, helpers or
resources changed: the bound is the profile's `context_limit`, since one changed helper can reach
every test of a project. Both are drawn with the pair as seed.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.records import Candidate, compute_candidate_id
from coevo.model.words import MethodChange
from filters.base import FilterCase


class Reason(Choice):
    """Why a test is dropped whose own text did not change."""

    NOT_SAMPLED = (
        'not_sampled',
        'The own text of this test did not change, and it is outside the seeded sample of such tests that is run.',
    )


def find_drop_reason(case: FilterCase, candidate: Candidate) -> Reason | None:
    """Return a reason if the candidate's own text did not change and it is beyond the sample."""
    limit = _find_limit(case, candidate.change)
    if limit is None:
        return None
    drawn = case.drawn_order[candidate.change][:limit]
    return (
        None if compute_candidate_id(case.change.pair, candidate) in drawn else Reason.NOT_SAMPLED
    )


def _find_limit(case: FilterCase, change: MethodChange) -> int | None:
    profile = case.profile
    if change is MethodChange.CONTEXT_CHANGED:
        return profile.context_limit
    if change is MethodChange.UNCHANGED and profile.gate is None:
        return profile.unchanged_limit if case.change.tests_changed else profile.unchanged_sample
    return None
