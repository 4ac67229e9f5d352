"""Java as text: its syntax, its test frameworks and its source trees.

Implements `coevo.languages.reading.LanguageReading`.
"""

from functools import partial

from coevo.languages import grammars, reading
from coevo.languages.java.reading import syntax, tests, tokens
from coevo.languages.java.reading.common_calls import COMMON_CALLS as COMMON_CALLS
from coevo.languages.java.reading.executed import is_part_of as is_part_of
from coevo.languages.java.reading.poms import parse_licences as parse_licences
from coevo.languages.java.reading.standard_folders import (
    classify_path as classify_path,
    is_build_file as is_build_file,
)
from coevo.languages.java.reading.syntax import parse as parse, parse_uncached as parse_uncached
from coevo.languages.java.reading.tests import (
    find_tests as find_tests,
    guess_class_under_test as guess_class_under_test,
    is_run_by_framework as is_run_by_framework,
    list_expected_throws as list_expected_throws,
)
from coevo.languages.java.reading.tokens import LEXIS as LEXIS, list_words as list_words
from coevo.languages.java.reading.trees import open_tree as open_tree

SUFFIXES = ('.java',)
TESTS_AMONG_SOURCES = True

list_provided_fixture_names = reading.provide_no_fixture_names
may_request_any_fixture = reading.request_no_fixtures
list_reference_names = reading.name_by_stem
list_watch_names = reading.name_by_types
explain_refusal = reading.accept_any_file
compute_parser_digest = partial(
    grammars.hash_parser, 'tree-sitter-java', None, grammars, syntax, tokens, tests
)
