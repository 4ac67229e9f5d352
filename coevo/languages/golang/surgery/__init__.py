"""Go files cut and put together again. Fulfils `coevo.languages.surgery.FileSurgery`."""

from coevo.languages.golang.surgery.reach import (
    find_derived_classes,
    list_names_used_elsewhere,
    make_mention_finder,
)
from coevo.languages.golang.surgery.start_state import SURGERY

__all__ = [
    'find_derived_classes',
    'add_helpers',
    'make_mention_finder',
    'list_names_used_elsewhere',
    'list_other_tests',
    'make_start_file',
    'transplant_tests',
]

add_helpers = SURGERY.add_helpers
list_other_tests = SURGERY.list_other_tests
make_start_file = SURGERY.make_start_file
transplant_tests = SURGERY.transplant_tests
