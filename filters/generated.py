"""Tests in files that no one wrote here: what changes them is a generator or another project."""

from __future__ import annotations

from coevo.model.reasons import Reason
from coevo.model.records import Candidate
from coevo.model.records import Origin
from filters.base import FilterCase

REASONS = (Reason.GENERATED_CODE, Reason.VENDORED_CODE)
_BY_ORIGIN = {Origin.GENERATED: Reason.GENERATED_CODE, Origin.VENDORED: Reason.VENDORED_CODE}


def check(case: FilterCase, candidate: Candidate) -> Reason | None:
    return _BY_ORIGIN.get(candidate.origin)
