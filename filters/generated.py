"""Drop tests in generated or vendored files, which a generator or another project changes."""

from __future__ import annotations

from coevo.model.choices import Choice
from coevo.model.records import Candidate, FileOrigin
from filters.base import FilterCase


class Reason(Choice):
    """Why a test is dropped because of the origin of its file."""

    GENERATED_CODE = (
        'generated_code',
        'The test file is generated, as its folder, its head or a mark in it says.',
    )
    VENDORED_CODE = 'vendored_code', 'The test file lies in a folder for the code of others.'


_BY_ORIGIN = {
    FileOrigin.GENERATED: Reason.GENERATED_CODE,
    FileOrigin.VENDORED: Reason.VENDORED_CODE,
}


def check(case: FilterCase, candidate: Candidate) -> Reason | None:
    """Return the reason that belongs to the origin of the candidate's file, or None."""
    return _BY_ORIGIN.get(candidate.origin)
