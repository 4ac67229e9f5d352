"""Java files cut and put together again. Fulfils `coevo.languages.surgery.FileSurgery`."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.declarations import Member
from coevo.languages.java.surgery import start_state
from coevo.languages.java.surgery.extension import add_helpers as add_helpers
from coevo.languages.java.surgery.namers import make_mention_finder as make_mention_finder
from coevo.languages.java.surgery.pieces import JavaOutline
from coevo.languages.java.surgery.reach import find_derived_classes as find_derived_classes
from coevo.languages.java.surgery.reach import (
    list_names_used_elsewhere as list_names_used_elsewhere,
)
from coevo.languages.java.surgery.start_state import make_start_file as make_start_file
from coevo.languages.java.surgery.transplant import transplant_tests as transplant_tests


def list_other_tests(source: bytes, targets: Sequence[Member], path: str = '') -> list[Member]:
    return start_state.find_other_tests(JavaOutline(source), targets)
