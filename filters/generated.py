"""Drop tests whose file does not belong to the project's own tests.

These are files that are generated, vendored, behind links, or among the sources, which the engine
takes for code.
"""

from __future__ import annotations

from coevo.model.column import Choice
from coevo.model.records import Candidate, FileOrigin
from filters.base import FilterCase


class Reason(Choice):
    """Why a test is dropped because of the origin of its file."""

    GENERATED_CODE = (
        'generated_code',
        'The test file is generated, according to its folder, its head or a mark in it.',
    )
    BEHIND_LINK = (
        'behind_link',
        'The test file is a symbolic link at one of the ends, or only a link makes it a test file.',
    )
    TEST_AMONG_SOURCES = (
        'test_among_sources',
        'The test is among the main sources of its module, for other modules to inherit.',
    )
    VENDORED_CODE = 'vendored_code', 'The test file is in a folder for third-party code.'


_BY_ORIGIN = {
    FileOrigin.GENERATED: Reason.GENERATED_CODE,
    FileOrigin.LINKED: Reason.BEHIND_LINK,
    FileOrigin.SOURCES: Reason.TEST_AMONG_SOURCES,
    FileOrigin.VENDORED: Reason.VENDORED_CODE,
}


def find_drop_reason(case: FilterCase, candidate: Candidate) -> Reason | None:
    """Return the reason that belongs to the origin of the candidate's file, or None."""
    return _BY_ORIGIN.get(candidate.origin)
