"""Java as text: its syntax, its test frameworks, its trees. Fulfils `coevo.languages.reading.Reading`."""

from coevo.languages.file_names import by_stem as named_as
from coevo.languages.file_names import by_type as watched_as
from coevo.languages.java.reading.class_under_test import class_under_test
from coevo.languages.java.reading.common_calls import COMMON_CALLS
from coevo.languages.java.reading.executed import is_part_of
from coevo.languages.java.reading.expected_throws import expected_throws
from coevo.languages.java.reading.lexis import LEXIS
from coevo.languages.java.reading.pom_licences import declared_licences
from coevo.languages.java.reading.standard_folders import is_build_file
from coevo.languages.java.reading.standard_folders import placed
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.syntax import parse_once
from coevo.languages.java.reading.tests import find_tests
from coevo.languages.java.reading.tests import is_fixture
from coevo.languages.java.reading.trees import tree
from coevo.languages.java.reading.version import version
from coevo.languages.java.reading.words import words
from coevo.languages.submitted_files import all_accepted as refused_in

SUFFIXES = ('.java',)

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
