"""What a submitted Go file may not bring."""

from __future__ import annotations

import pytest

from coevo.languages.golang.reading import explain_refusal

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
def test_submitted_code_that_runs_before_tests_or_reaches_memory_is_refused(
    source: bytes, what: str
) -> None:
    assert explain_refusal(source, [OWN]) == f'a submitted file may not {what}'


def test_submitted_code_that_the_projects_own_file_has_is_accepted() -> None:
    source = with_('\nfunc init() {}\n\nfunc TestMain(m *testing.M) {}\n')
    assert explain_refusal(source, [OWN, source]) is None
    assert explain_refusal(source + b'\nfunc init() {}\n', [OWN, source]) is not None


def test_submitted_text_that_only_resembles_forbidden_code_is_accepted() -> None:
    source = with_(
        '\ntype till struct{}\n\nfunc (till) init() {}\n\n// unsafe, func init()\nvar s = "unsafe"\n'
    )
    assert explain_refusal(source, [OWN]) is None
