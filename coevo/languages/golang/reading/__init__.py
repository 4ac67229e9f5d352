"""Go as text: its syntax, its tests, its trees. Fulfils `coevo.languages.reading.LanguageReading`."""

from coevo.languages.file_names import name_by_declarations as list_reference_names
from coevo.languages.file_names import name_by_path as list_watch_names
from coevo.languages.golang.reading.class_under_test import guess_class_under_test
from coevo.languages.golang.reading.common_calls import COMMON_CALLS
from coevo.languages.golang.reading.executed import is_part_of
from coevo.languages.golang.reading.expected_throws import list_expected_throws
from coevo.languages.golang.reading.layout import classify_path, is_build_file
from coevo.languages.golang.reading.lexis import LEXIS
from coevo.languages.golang.reading.submitted_files import explain_refusal
from coevo.languages.golang.reading.syntax import parse, parse_uncached
from coevo.languages.golang.reading.tests import find_tests, is_fixture
from coevo.languages.golang.reading.trees import open_tree
from coevo.languages.golang.reading.version import compute_version
from coevo.languages.golang.reading.words import list_words
from coevo.languages.licences import list_no_licences as parse_licences

SUFFIXES = ('.go',)

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
