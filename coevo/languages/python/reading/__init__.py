"""Python sources as text: syntax, test frameworks and source trees. Implements
`coevo.languages.reading.LanguageReading`.
"""

from functools import partial
from pathlib import Path

from coevo.languages import grammars, reading, spans
from coevo.languages.core import comments
from coevo.languages.python.reading.common_calls import COMMON_CALLS as COMMON_CALLS
from coevo.languages.python.reading.metadata_licences import parse_licences as parse_licences
from coevo.languages.python.reading.module_paths import (
    classify_path as classify_path,
    is_build_file as is_build_file,
)
from coevo.languages.python.reading.statements import is_part_of as is_part_of
from coevo.languages.python.reading.syntax import parse as parse, parse_uncached as parse_uncached
from coevo.languages.python.reading.tests import (
    find_tests as find_tests,
    guess_class_under_test as guess_class_under_test,
    is_run_by_framework as is_run_by_framework,
    list_provided_fixture_names as list_provided_fixture_names,
    may_request_any_fixture as may_request_any_fixture,
)
from coevo.languages.python.reading.trees import open_tree as open_tree
from coevo.languages.python.reading.words import LEXIS as LEXIS, list_words as list_words

SUFFIXES = ('.py',)
TESTS_AMONG_SOURCES = False

list_reference_names = reading.name_by_stem
list_watch_names = reading.name_by_types
explain_refusal = reading.accept_any_file
list_expected_throws = reading.expect_no_throws
compute_parser_digest = partial(
    grammars.hash_parser, 'tree-sitter-python', Path(__file__).parent, grammars, spans, comments
)
