"""Reads Go as text: syntax, tests, trees. Fulfils `coevo.languages.reading.LanguageReading`."""

from __future__ import annotations

from coevo.languages import reading
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

# Names of methods that far more often belong to the standard library than to a project.
#
# They are those of its interfaces and of the types that tests use most: https://pkg.go.dev/std.

COMMON_CALLS = frozenset(
    {
        # testing.TB
        *('Cleanup', 'Error', 'Errorf', 'Fail', 'FailNow', 'Failed', 'Fatal', 'Fatalf', 'Helper'),
        *(
            'Log',
            'Logf',
            'Name',
            'Parallel',
            'Run',
            'Setenv',
            'Skip',
            'SkipNow',
            'Skipf',
            'TempDir',
        ),
        *('ResetTimer', 'StartTimer', 'StopTimer', 'ReportAllocs', 'RunParallel', 'Context'),
        # fmt, errors, io, encoding
        *('String', 'GoString', 'Format', 'Unwrap', 'Is', 'As', 'Read', 'Write', 'Close', 'Seek'),
        *(
            'ReadByte',
            'WriteByte',
            'WriteString',
            'ReadFrom',
            'WriteTo',
            'ReadAt',
            'Flush',
            'Bytes',
        ),
        *('MarshalText', 'UnmarshalText', 'MarshalJSON', 'UnmarshalJSON', 'MarshalBinary'),
        *('UnmarshalBinary', 'Encode', 'Decode', 'Scan', 'Print', 'Printf', 'Println', 'Sprintf'),
        # sort, container/heap, sync, context, time
        *(
            'Len',
            'Less',
            'Swap',
            'Push',
            'Pop',
            'Lock',
            'Unlock',
            'RLock',
            'RUnlock',
            'Add',
            'Done',
        ),
        *(
            'Wait',
            'Do',
            'Load',
            'Store',
            'Deadline',
            'Err',
            'Value',
            'Sub',
            'After',
            'Before',
            'Equal',
        ),
        *('Unix', 'Now', 'Since', 'Stop', 'Reset'),
        # net/http, net/http/httptest, net/url, os, reflect, bufio, strings.Builder
        *(
            'ServeHTTP',
            'Header',
            'WriteHeader',
            'Set',
            'Get',
            'Del',
            'Query',
            'Start',
            'Stat',
            'Sync',
        ),
        *(
            'Kind',
            'Type',
            'Interface',
            'Elem',
            'Field',
            'Index',
            'NumField',
            'Text',
            'Grow',
            'Next',
        ),
    }
)

SUFFIXES = ('.go',)
TESTS_AMONG_SOURCES = False

list_provided_fixture_names = reading.provide_no_fixture_names
may_request_any_fixture = reading.request_no_fixtures
list_reference_names = reading.name_by_declarations
list_watch_names = reading.name_by_path
parse_licences = reading.list_no_licences
list_expected_throws = reading.expect_no_throws
PARSERS = ('tree-sitter', 'tree-sitter-go')
