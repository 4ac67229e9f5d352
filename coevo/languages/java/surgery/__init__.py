"""Java files cut and put together again. Fulfils `coevo.languages.surgery.Surgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import Member
from coevo.languages.java.surgery import start_state
from coevo.languages.java.surgery.extension import extended
from coevo.languages.java.surgery.namers import namers
from coevo.languages.java.surgery.pieces import JavaOutline
from coevo.languages.java.surgery.reach import derived
from coevo.languages.java.surgery.reach import names_used_elsewhere
from coevo.languages.java.surgery.start_state import start_file
from coevo.languages.java.surgery.transplant import transplant

__all__ = [
    'derived',
    'extended',
    'namers',
    'names_used_elsewhere',
    'other_tests',
    'start_file',
    'transplant',
]


def other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    return start_state.other_tests(JavaOutline(source), targets)
