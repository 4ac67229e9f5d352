"""Java files cut and put together again. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import Member
from coevo.languages.java.surgery.namers import make_mention_finder
from coevo.languages.java.surgery.pieces import make_outline
from coevo.languages.java.surgery.reach import find_derived_classes, list_names_used_elsewhere
from coevo.languages.java.surgery.start_state import MAKER

__all__ = [
    'find_derived_classes',
    'add_helpers',
    'make_mention_finder',
    'list_names_used_elsewhere',
    'list_other_tests',
    'make_start_file',
    'transplant_tests',
]

make_start_file = MAKER.make_start_file
transplant_tests = MAKER.transplant_tests
add_helpers = MAKER.add_helpers


def list_other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    return MAKER.find_other_tests(make_outline(source), targets)
