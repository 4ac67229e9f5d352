"""A Go test file with the helpers that a new version of it adds."""

from __future__ import annotations

from coevo.languages.declarations import Member
from coevo.languages.golang.reading.tests import is_fixture
from coevo.languages.golang.surgery.pieces import outline
from coevo.languages.golang.surgery.transplant import transplant
from coevo.languages.helper_grafts import helper_grafts


def extended(old: bytes, new: bytes) -> bytes:
    """The old text where there is nothing to add; StartStateInvalid."""

    def stays_out(member: Member) -> bool:
        return '$' in member.owner or member.name == '_' or is_fixture(member)

    after = outline(new)
    grafts = helper_grafts(outline(old).file, after.file, after.tests, stays_out)
    return transplant(old, new, grafts) if grafts else old
