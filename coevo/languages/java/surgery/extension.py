"""A Java test file with the helpers that a new version of it adds."""

from __future__ import annotations

from coevo.languages.helper_grafts import helper_grafts
from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.old_pieces import outline
from coevo.languages.java.surgery.start_state import other_tests
from coevo.languages.java.surgery.transplant import transplant


def extended(old: bytes, new: bytes) -> bytes:
    """The old text where there is nothing to add; StartStateInvalid."""
    before, after = outline(old), outline(new)
    grafts = helper_grafts(before.file, after.file, other_tests(after, []), is_fixture)
    return transplant(old, new, grafts) if grafts else old
