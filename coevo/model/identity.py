"""The keys by which rows of different steps are known to be of the same thing."""

from __future__ import annotations

from coevo.model.drops import Declared
from coevo.model.records import Candidate
from coevo.model.records import Pair
from coevo.model.records import short_hash
from coevo.model.words import Change


def method_id(pair: Pair, candidate: Candidate) -> str:
    """The stable id of a test method in a pair, the same under every walk."""
    return method_id_in(pair.pair_id, candidate.change, candidate.method)


def method_id_in(pair_id: str, change: Change, method: Declared) -> str:
    """The same of any record that says which method it is.

    A deleted method is kept apart from one that came to stand under its name.
    """
    return short_hash(
        pair_id,
        'deleted' if change is Change.DELETED else 'standing',
        method.test_file,
        method.test_class,
        method.test_method,
        *method.parameters,
    )
