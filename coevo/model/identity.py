"""The keys by which rows of different steps are known to be of the same thing."""

from __future__ import annotations

from coevo.model.drops import MethodIdentity
from coevo.model.records import Candidate, Pair, compute_short_hash
from coevo.model.words import MethodChange


def compute_candidate_id(pair: Pair, candidate: Candidate) -> str:
    """The stable id of a test method in a pair, the same under every walk."""
    return compute_method_id(pair.pair_id, candidate.change, candidate.method)


def compute_method_id(pair_id: str, change: MethodChange, method: MethodIdentity) -> str:
    """The same of any record that says which method it is.

    A deleted method is kept apart from one that came to stand under its name.
    """
    return compute_short_hash(
        pair_id,
        'deleted' if change is MethodChange.DELETED else 'standing',
        method.test_file,
        method.test_class,
        method.test_method,
        *method.parameters,
    )
