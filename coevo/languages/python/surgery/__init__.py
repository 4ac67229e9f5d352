"""Python files cut and put together again. Fulfils `coevo.languages.surgery.Surgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import Member
from coevo.languages.python.reading import parse
from coevo.languages.python.surgery import start_state
from coevo.languages.python.surgery.extension import extended
from coevo.languages.python.surgery.namers import namers
from coevo.languages.python.surgery.pieces import outline
from coevo.languages.python.surgery.reach import derived
from coevo.languages.python.surgery.reach import names_used_elsewhere
from coevo.languages.python.surgery.start_state import start_file
from coevo.languages.python.surgery.transplant import transplant

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
    """With the full names of what owns them."""
    placed = {m.start_byte: m for type_ in parse(source, path).types for m in type_.members}
    return [placed[m.start_byte] for m in start_state.other_tests(outline(source), targets)]
