"""Python as text: its syntax, its test frameworks, its trees. Fulfils `coevo.languages.reading.LanguageReading`."""

from coevo.languages.file_names import name_by_stem as list_reference_names
from coevo.languages.file_names import name_by_types as list_watch_names
from coevo.languages.python.reading.class_under_test import guess_class_under_test
from coevo.languages.python.reading.common_calls import COMMON_CALLS
from coevo.languages.python.reading.executed import is_part_of
from coevo.languages.python.reading.expected_throws import list_expected_throws
from coevo.languages.python.reading.layout import classify_path, is_build_file
from coevo.languages.python.reading.lexis import LEXIS
from coevo.languages.python.reading.metadata_licences import parse_licences
from coevo.languages.python.reading.syntax import parse, parse_uncached
from coevo.languages.python.reading.tests import find_tests, is_fixture
from coevo.languages.python.reading.trees import open_tree
from coevo.languages.python.reading.version import compute_version
from coevo.languages.python.reading.words import list_words
from coevo.languages.submitted_files import accept_any_file as explain_refusal

SUFFIXES = ('.py',)

__all__ = [
    'COMMON_CALLS',
    'LEXIS',
    'SUFFIXES',
    'guess_class_under_test',
    'parse_licences',
    'list_expected_throws',
    'find_tests',
    'is_build_file',
    'is_fixture',
    'is_part_of',
    'list_reference_names',
    'parse',
    'parse_uncached',
    'classify_path',
    'explain_refusal',
    'open_tree',
    'compute_version',
    'list_watch_names',
    'list_words',
]
