"""Tests in files that no one wrote here: what changes them is a generator or another project."""

from __future__ import annotations

from coevo.model.reasons import Reason
from coevo.model.records import Candidate, FileOrigin
from filters.base import FilterCase

REASONS = (Reason.GENERATED_CODE, Reason.VENDORED_CODE)
_BY_ORIGIN = {
    FileOrigin.GENERATED: Reason.GENERATED_CODE,
    FileOrigin.VENDORED: Reason.VENDORED_CODE,
}


def check(case: FilterCase, candidate: Candidate) -> Reason | None:
    return _BY_ORIGIN.get(candidate.origin)
