"""Go as text: its syntax, its tests, its trees. Fulfils `coevo.languages.reading.Reading`."""

from coevo.languages.file_names import by_declarations as named_as
from coevo.languages.file_names import by_path as watched_as
from coevo.languages.golang.reading.class_under_test import class_under_test
from coevo.languages.golang.reading.common_calls import COMMON_CALLS
from coevo.languages.golang.reading.executed import is_part_of
from coevo.languages.golang.reading.expected_throws import expected_throws
from coevo.languages.golang.reading.layout import is_build_file
from coevo.languages.golang.reading.layout import placed
from coevo.languages.golang.reading.lexis import LEXIS
from coevo.languages.golang.reading.submitted_files import refused_in
from coevo.languages.golang.reading.syntax import parse
from coevo.languages.golang.reading.syntax import parse_once
from coevo.languages.golang.reading.tests import find_tests
from coevo.languages.golang.reading.tests import is_fixture
from coevo.languages.golang.reading.trees import tree
from coevo.languages.golang.reading.version import version
from coevo.languages.golang.reading.words import words
from coevo.languages.licences import none_declared as declared_licences

SUFFIXES = ('.go',)

__all__ = [
    'COMMON_CALLS',
    'LEXIS',
    'SUFFIXES',
    'class_under_test',
    'declared_licences',
    'expected_throws',
    'find_tests',
    'is_build_file',
    'is_fixture',
    'is_part_of',
    'named_as',
    'parse',
    'parse_once',
    'placed',
    'refused_in',
    'tree',
    'version',
    'watched_as',
    'words',
]
