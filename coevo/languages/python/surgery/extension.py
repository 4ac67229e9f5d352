"""A Python test file with the helpers that a new version of it adds."""

from __future__ import annotations

from coevo.languages.declarations import Member
from coevo.languages.helper_grafts import find_helper_grafts
from coevo.languages.python.reading.tests import is_fixture
from coevo.languages.python.surgery.pieces import make_outline
from coevo.languages.python.surgery.start_state import find_other_tests
from coevo.languages.python.surgery.transplant import transplant_tests


def add_helpers(old: bytes, new: bytes) -> bytes:
    """The old text where there is nothing to add; StartStateInvalid.

    Variables come where a function or class that is added names them.
    """
    before, after = make_outline(old), make_outline(new)

    def stays_out(member: Member) -> bool:
        return member.kind == 'field' or is_fixture(member)

    grafts = find_helper_grafts(before.file, after.file, find_other_tests(after, []), stays_out)
    return transplant_tests(old, new, grafts) if grafts else old
