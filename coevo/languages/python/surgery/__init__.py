"""Python files cut and put together again. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import Member
from coevo.languages.python.reading import parse
from coevo.languages.python.surgery import start_state
from coevo.languages.python.surgery.extension import add_helpers as add_helpers
from coevo.languages.python.surgery.namers import make_mention_finder as make_mention_finder
from coevo.languages.python.surgery.pieces import make_outline
from coevo.languages.python.surgery.reach import find_derived_classes as find_derived_classes
from coevo.languages.python.surgery.reach import (
    list_names_used_elsewhere as list_names_used_elsewhere,
)
from coevo.languages.python.surgery.start_state import make_start_file as make_start_file
from coevo.languages.python.surgery.transplant import transplant_tests as transplant_tests


def list_other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    """With the full names of what owns them."""
    placed = {m.start_byte: m for type_ in parse(source, path).types for m in type_.members}
    return [
        placed[m.start_byte] for m in start_state.find_other_tests(make_outline(source), targets)
    ]
