"""Reads Go as text: syntax, tests, trees. Fulfils `coevo.languages.reading.LanguageReading`."""

from functools import partial
from pathlib import Path

from coevo.languages import grammars, reading, spans
from coevo.languages.core import comments
from coevo.languages.golang.reading.common_calls import COMMON_CALLS as COMMON_CALLS
from coevo.languages.golang.reading.declared import is_part_of as is_part_of
from coevo.languages.golang.reading.layout import (
    classify_path as classify_path,
    is_build_file as is_build_file,
)
from coevo.languages.golang.reading.submitted_files import (
    explain_refusal as explain_refusal,
    list_words as list_words,
)
from coevo.languages.golang.reading.syntax import parse as parse, parse_uncached as parse_uncached
from coevo.languages.golang.reading.tests import (
    find_tests as find_tests,
    guess_class_under_test as guess_class_under_test,
    is_run_by_framework as is_run_by_framework,
)
from coevo.languages.golang.reading.tokens import LEXIS as LEXIS
from coevo.languages.golang.reading.trees import open_tree as open_tree

SUFFIXES = ('.go',)
TESTS_AMONG_SOURCES = False

list_provided_fixture_names = reading.provide_no_fixture_names
may_request_any_fixture = reading.request_no_fixtures
list_reference_names = reading.name_by_declarations
list_watch_names = reading.name_by_path
parse_licences = reading.list_no_licences
list_expected_throws = reading.expect_no_throws
compute_parser_digest = partial(
    grammars.hash_parser, 'tree-sitter-go', Path(__file__).parent, grammars, spans, comments
)
