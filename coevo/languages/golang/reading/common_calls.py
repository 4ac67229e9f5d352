"""Names of methods that far more often belong to the standard library than to a project.

They are those of its interfaces and of the types that tests use most: https://pkg.go.dev/std.
"""

from __future__ import annotations

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
