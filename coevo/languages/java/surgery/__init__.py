"""Cut Java files and put them together again.

Implements `coevo.languages.surgery.FileSurgery`.
"""

from coevo.languages.java.surgery.reach import (
    find_derived_classes as find_derived_classes,
    list_names_in_related_files as list_names_in_related_files,
    make_mention_finder as make_mention_finder,
)
from coevo.languages.java.surgery.start_state import SURGERY

add_helpers = SURGERY.add_helpers
list_other_tests = SURGERY.list_other_tests
make_start_file = SURGERY.make_start_file
transplant_tests_into_old = SURGERY.transplant_tests_into_old
