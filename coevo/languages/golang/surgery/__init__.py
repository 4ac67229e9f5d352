"""Go files cut and put together again. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages import surgery
from coevo.languages.declarations import Member
from coevo.languages.golang.reading import parse
from coevo.languages.golang.surgery import start_state
from coevo.languages.golang.surgery.extension import add_helpers as add_helpers
from coevo.languages.golang.surgery.namers import make_mention_finder as make_mention_finder
from coevo.languages.golang.surgery.reach import (
    list_names_used_elsewhere as list_names_used_elsewhere,
)
from coevo.languages.golang.surgery.start_state import make_start_file as make_start_file
from coevo.languages.golang.surgery.transplant import transplant_tests as transplant_tests

find_derived_classes = surgery.find_no_derived_classes


def list_other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    """As the file in its place has them."""
    placed = {m.start_byte: m for type_ in parse(source, path).types for m in type_.members}
    return [placed[m.start_byte] for m in start_state.list_other_tests(source, targets)]
