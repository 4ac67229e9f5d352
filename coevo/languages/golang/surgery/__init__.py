"""Cuts and composes Go files. Fulfils `coevo.languages.surgery.FileSurgery`."""

from coevo.languages import surgery
from coevo.languages.golang.surgery.reach import (
    list_names_in_related_files as list_names_in_related_files,
    make_mention_finder as make_mention_finder,
)
from coevo.languages.golang.surgery.start_state import SURGERY

find_derived_classes = surgery.find_no_derived_classes
add_helpers = SURGERY.add_helpers
list_other_tests = SURGERY.list_other_tests
make_start_file = SURGERY.make_start_file
transplant_tests_into_old = SURGERY.transplant_tests_into_old
