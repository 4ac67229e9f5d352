"""The keys by which rows of different steps are known to be of the same thing."""

from __future__ import annotations

from coevo.records import Candidate
from coevo.records import Change
from coevo.records import Pair
from coevo.records import short_hash


def method_id(pair: Pair, candidate: Candidate) -> str:
    """The stable id of a test method in a pair, the same under every walk.

    A deleted method is kept apart from one that came to stand under its name.
    """
    method = candidate.method
    kind = 'deleted' if candidate.change is Change.DELETED else 'standing'
    return short_hash(
        pair.pair_id,
        kind,
        method.test_file,
        method.test_class,
        method.test_method,
        *method.parameters,
    )
