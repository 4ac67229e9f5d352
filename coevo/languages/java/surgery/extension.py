"""A Java test file with the helpers that a new version of it adds."""

from __future__ import annotations

from coevo.languages.helper_grafts import find_helper_grafts
from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.surgery.old_pieces import parse_outline
from coevo.languages.java.surgery.start_state import find_other_tests
from coevo.languages.java.surgery.transplant import transplant_tests


def add_helpers(old: bytes, new: bytes) -> bytes:
    """The old text where there is nothing to add; StartStateInvalid."""
    before, after = parse_outline(old), parse_outline(new)
    grafts = find_helper_grafts(before.file, after.file, find_other_tests(after, []), is_fixture)
    return transplant_tests(old, new, grafts) if grafts else old
