"""What a submitted Go file may not bring."""

from __future__ import annotations

import pytest

from coevo.languages.golang.reading import refused_in

OWN = b'package shop\n\nimport "testing"\n\nfunc TestA(t *testing.T) {}\n'


def with_(text: str, path: str = '"testing"') -> bytes:
    return OWN.replace(b'"testing"', path.encode()) + text.encode()


@pytest.mark.parametrize(
    ('source', 'what'),
    [
        (with_('\nfunc TestMain(m *testing.M) {}\n'), 'declare TestMain'),
        (with_('\nfunc init() {}\n'), 'declare init'),
        (with_('\n//go:linkname now runtime.nanotime\nfunc now() int64\n'), 'have //go:linkname'),
        (with_('', '(\n\t"testing"\n\t. "unsafe"\n)'), 'import "unsafe"'),
        (with_('', '(\n\t"testing"\n\t`unsafe`\n)'), 'import "unsafe"'),
        (with_('\n// x\nimport "C"\n'), 'import "C"'),
        (
            with_('', '(\n\t"testing"\n\t"\\x75nsafe"\n)'),
            'import a path that is written with escapes',
        ),
        (with_('\nfunc init() {}\n}}', '(\n\t"testing"\n\t"unsafe"\n'), 'declare init'),
    ],
)
def test_what_runs_before_tests_or_reaches_memory_is_refused(source: bytes, what: str) -> None:
    assert refused_in(source, [OWN]) == f'a submitted file may not {what}'


def test_what_the_projects_own_file_has_is_accepted() -> None:
    source = with_('\nfunc init() {}\n\nfunc TestMain(m *testing.M) {}\n')
    assert refused_in(source, [OWN, source]) is None
    assert refused_in(source + b'\nfunc init() {}\n', [OWN, source]) is not None


def test_words_that_only_look_so_are_accepted() -> None:
    source = with_(
        '\ntype till struct{}\n\nfunc (till) init() {}\n\n// unsafe, func init()\nvar s = "unsafe"\n'
    )
    assert refused_in(source, [OWN]) is None
