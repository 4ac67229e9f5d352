"""A Go test file with the helpers that a new version of it adds."""

from __future__ import annotations

from coevo.languages.declarations import Member
from coevo.languages.golang.reading.tests import is_fixture
from coevo.languages.golang.surgery.pieces import make_outline
from coevo.languages.golang.surgery.transplant import transplant_tests
from coevo.languages.helper_grafts import find_helper_grafts


def add_helpers(old: bytes, new: bytes) -> bytes:
    """The old text where there is nothing to add; StartStateInvalid."""

    def must_stay_out(member: Member) -> bool:
        return '$' in member.owner or member.name == '_' or is_fixture(member)

    after = make_outline(new)
    grafts = find_helper_grafts(make_outline(old).file, after.file, after.tests, must_stay_out)
    return transplant_tests(old, new, grafts) if grafts else old
