"""Java files cut and put together again. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import Member
from coevo.languages.java.surgery import start_state
from coevo.languages.java.surgery.extension import add_helpers
from coevo.languages.java.surgery.namers import make_mention_finder
from coevo.languages.java.surgery.pieces import JavaOutline
from coevo.languages.java.surgery.reach import find_derived_classes, list_names_used_elsewhere
from coevo.languages.java.surgery.start_state import make_start_file
from coevo.languages.java.surgery.transplant import transplant_tests

__all__ = [
    'find_derived_classes',
    'add_helpers',
    'make_mention_finder',
    'list_names_used_elsewhere',
    'list_other_tests',
    'make_start_file',
    'transplant_tests',
]


def list_other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    return start_state.find_other_tests(JavaOutline(source), targets)
