"""Patches as they come: what is refused, why, and what is applied; Git is the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.evaluation.judging.application import (
    MOST_BYTES,
    AppliedFile,
    Refusal,
    apply_patch,
    find_file_refusal,
    find_refusal,
    is_readable,
    refuse_by_language,
    replace_file,
    undo_patch,
)
from coevo.evaluation.outcomes import Detail
from coevo.git.patches import make_file_patch
from tests.repos import commit, git, init

PATH = 'src/test/java/p/ATest.java'
START = 'class ATest {\n    void a() {}\n\n    void b() {}\n}\n'
MADE = START.replace('a() {}', 'a() { b(); }')
PATCH = make_file_patch(PATH, START, MADE)


def applied(patch: str | bytes, start: str | bytes | None = START, path: str = PATH) -> object:
    raw, old = (x.encode() if isinstance(x, str) else x for x in (patch, start))
    made = apply_patch(raw, path, old)
    if isinstance(made, Refusal):
        return made.detail
    return None if made.content is None else made.content.decode('latin-1')


def header(old: str, new: str, *, git: str = '') -> str:
    """The same hunk under another header."""
    return f'{git}--- {old}\n+++ {new}\n@@{PATCH.partition("@@")[2]}'


def test_git_diff_is_applied() -> None:
    assert applied(PATCH) == MADE
    assert (
        applied(f'From: me\nSubject: [PATCH] better\n\n---\n A | 2 +-\n\n{PATCH}-- \n2.4\n') == MADE
    )


@pytest.mark.parametrize(
    'patch',
    [
        header(f'a/{PATH}', f'b/{PATH}'),
        header(PATH, PATH),
        header(f'a/{PATH}\t2024-01-01 00:00:00', f'b/{PATH}\t2024-01-02 00:00:00'),
    ],
)
def test_diff_of_other_tools_is_applied(patch: str) -> None:
    assert applied(patch) == MADE


def test_hunk_is_applied_at_shifted_lines_with_equal_context() -> None:
    start = ''.join(f'line {n}\n' for n in range(20))
    made = start.replace('line 9', 'nine')
    patch = make_file_patch(PATH, start, made)
    assert applied(patch, f'one more\n{start}') == f'one more\n{made}'
    assert applied(patch, start.replace('line 8', 'eight')) == Detail.DOES_NOT_APPLY


def test_hunk_lines_that_look_like_headers_are_content() -> None:
    """Lines of a file that look like the headers of another one."""
    start = 'a\n-- old.sql\n++ x\nz\n'
    made = 'a\n++ /dev/null\nz\n'
    patch = make_file_patch(PATH, start, made)
    assert '\n--- old.sql\n' in patch
    assert applied(patch, start) == made


def test_patch_may_create_or_delete_the_file() -> None:
    assert applied(make_file_patch(PATH, None, MADE), None) == MADE
    assert applied(make_file_patch(PATH, START, None)) is None
    assert applied(f'diff --git a/{PATH} b/{PATH}\nnew file mode 100644\nindex 0..0\n', None) == ''


def test_missing_line_feed_at_the_end_of_file_is_kept() -> None:
    bare = MADE.removesuffix('\n')
    assert applied(make_file_patch(PATH, START, bare)) == bare
    assert applied(make_file_patch(PATH, bare, START), bare) == START


def test_path_quoted_by_git_is_understood() -> None:
    path = 'src/test/java/p/"Ü\tTest".java'
    patch = make_file_patch(path, START, MADE)
    assert '\\303' in patch
    assert applied(patch, path=path) == MADE
    assert applied(PATCH, path=path) == Detail.OTHER_FILE


def test_quoted_path_is_read_from_the_title_of_a_patch_without_hunks() -> None:
    path = 'src/test/java/p/ÜTest.java'
    title = '"a/src/test/java/p/\\303\\234Test.java" "b/src/test/java/p/\\303\\234Test.java"'
    patch = f'diff --git {title}\nnew file mode 100644\nindex 0..0\n'
    assert applied(patch, None, path) == ''
    assert applied(patch, None) == Detail.OTHER_FILE


def test_latin_1_file_takes_a_text_or_a_git_binary_patch() -> None:
    start, made = START.encode() + b'// \xe9\n', MADE.encode() + b'// \xe9\n'
    binary = make_file_patch(PATH, start, made)
    assert 'GIT binary patch' in binary
    assert applied(binary, start) == made.decode('latin-1')
    assert applied(PATCH, start) == made.decode('latin-1')


@pytest.mark.parametrize(
    ('patch', 'detail'),
    [
        ('', Detail.EMPTY),
        (' \n\n', Detail.EMPTY),
        (f'diff --git a/{PATH} b/{PATH}\n', Detail.EMPTY),
        ('I have changed the test.', Detail.MALFORMED),
        (PATCH.replace(' }\n', ''), Detail.MALFORMED),
        (PATCH.replace('@@ -1,5 +1,5 @@', '@@ -1,9 +1,9 @@'), Detail.MALFORMED),
        (PATCH.replace('@@ -1,5 +1,5 @@', '@@ around line 1 @@'), Detail.MALFORMED),
        (PATCH + PATCH, Detail.MALFORMED),
        (PATCH.replace('void b', 'void c'), Detail.DOES_NOT_APPLY),
        (PATCH + '\n+one more\n', None),
        (make_file_patch(PATH, None, MADE), Detail.DOES_NOT_APPLY),
        (PATCH.replace('\n', '\r\n'), Detail.LINE_ENDS),
        (make_file_patch(PATH, START, MADE + '\0'), Detail.BINARY),
        (
            f'diff --git a/{PATH} b/{PATH}\nBinary files a/{PATH} and b/{PATH} differ\n',
            Detail.BINARY,
        ),
        ('x' * (MOST_BYTES + 1), Detail.TOO_LARGE),
        (header(f'a/{PATH}', 'b/pom.xml'), Detail.OTHER_FILE),
        (header('a/pom.xml', f'b/{PATH}'), Detail.OTHER_FILE),
        (header(f'a/../{PATH}', f'b/../{PATH}'), Detail.OTHER_FILE),
        (header(f'/{PATH}', f'/{PATH}'), Detail.OTHER_FILE),
        (header('/dev/null', '/dev/null'), Detail.OTHER_FILE),
        (
            PATCH + make_file_patch('src/test/java/p/BTest.java', None, 'class B {}\n'),
            Detail.OTHER_FILE,
        ),
        (make_file_patch('src/main/java/p/A.java', 'a\n', 'b\n') + PATCH, Detail.PRODUCTION_CODE),
        (make_file_patch('core/src/main/resources/a', 'a\n', 'b\n'), Detail.PRODUCTION_CODE),
        (make_file_patch('lib/A.java', 'a\n', 'b\n'), Detail.PRODUCTION_CODE),
        (
            (
                f'diff --git a/{PATH} b/src/test/java/p/BTest.java\nsimilarity index 100%\n'
                f'rename from {PATH}\nrename to src/test/java/p/BTest.java\n'
            ),
            Detail.RENAME,
        ),
        (
            f'diff --git a/{PATH} b/{PATH}\nold mode 100644\nnew mode 100755\n',
            Detail.FILE_MODE,
        ),
        (
            (
                f'diff --git a/{PATH} b/{PATH}\nnew file mode 120000\nindex 0000000..1111111\n'
                f'--- /dev/null\n+++ b/{PATH}\n@@ -0,0 +1 @@\n+/etc/passwd\n\\ No newline at end of file\n'
            ),
            Detail.SYMLINK,
        ),
        (
            (
                'diff --git a/lib b/lib\nnew file mode 160000\nindex 0000000..1111111\n'
                '--- /dev/null\n+++ b/lib\n@@ -0,0 +1 @@\n+Subproject commit 1111111\n'
            ),
            Detail.SUBMODULE,
        ),
    ],
)
def test_bad_patch_is_refused_with_its_detail(patch: str, detail: Detail | None) -> None:
    made = apply_patch(patch.encode(), PATH, START.encode(), {'lib/A.java'})
    assert (made.detail if isinstance(made, Refusal) else None) == detail


def test_crlf_file_takes_only_crlf_patches() -> None:
    start, made = (text.replace('\n', '\r\n') for text in (START, MADE))
    assert applied(make_file_patch(PATH, start, made), start) == made
    assert applied(PATCH, start) == Detail.LINE_ENDS


def test_missing_prediction_is_refused() -> None:
    assert find_refusal(None, PATH) == Refusal(detail=Detail.NO_PREDICTION)
    assert find_refusal(PATCH.encode(), PATH) is None


def test_patch_with_an_outside_path_is_refused_and_writes_nothing(tmp_path: Path) -> None:
    outside = tmp_path / 'outside'
    patch = header('/dev/null', str(outside)).replace('@@ -1,5 +1,5 @@', '@@ -0,0 +1,5 @@')
    assert applied(patch) in (Detail.OTHER_FILE, Detail.MALFORMED)
    assert not outside.exists()


def test_diff_of_real_commits_is_applied(tmp_path: Path) -> None:
    """A diff of real commits, with a mode, a moved line and no line feed at the end."""
    repository = init(tmp_path / 'repository')
    start, made = 'a\nb\nc\n' * 30, 'a\nb\nc\n' * 29 + 'c\na\nend'
    commit(repository, 'one', {PATH: start})
    commit(repository, 'two', {PATH: made})
    assert applied(git(repository, 'diff', 'HEAD~', 'HEAD') + '\n', start) == made


def test_undoing_a_patch_restores_the_old_file() -> None:
    assert undo_patch(PATCH, PATH, MADE.encode()) == START.encode()
    assert undo_patch(make_file_patch(PATH, None, MADE), PATH, MADE.encode()) is None
    latin = [text.encode() + b'\xe9' for text in (START, MADE)]
    assert undo_patch(make_file_patch(PATH, *latin), PATH, latin[1]) == latin[0]
    with pytest.raises(ValueError, match='not about'):
        undo_patch(PATCH, 'other', MADE.encode())
    with pytest.raises(ValueError, match='patch failed'):
        undo_patch(PATCH, PATH, b'something else\n')


def test_applied_content_is_the_bytes_of_the_file() -> None:
    made = apply_patch(PATCH.encode(), PATH, START.encode())
    assert made == AppliedFile(content=MADE.encode())


def test_file_nested_too_deeply_for_the_parser_is_refused() -> None:
    """Nested classes take our own stack; brackets that nobody closes, time: a machine reads a million in a second."""
    nested = 'class A {' * 3000 + '}' * 3000 + '\n'
    assert applied(make_file_patch(PATH, START, nested)) == Detail.TOO_LARGE
    assert not is_readable('Test.java', b'(' * 6_000_000, cpu_seconds=1)


def test_long_shallow_file_is_not_refused() -> None:
    methods = '    void a() { a(1); }\n' * 4000
    long = f'class ATest {{\n{methods}}}\n'
    assert applied(make_file_patch(PATH, START, long)) == long


@pytest.mark.parametrize(
    'patch',
    [
        header('"a/\\8"', f'b/{PATH}'),
        header('"a/\\9\\x"', '"'),
        header('"', '""'),
        f'diff --git "a/\\8" "b/\\8"\n{PATCH}',
    ],
)
def test_malformed_quoted_path_is_refused_without_a_crash(patch: str) -> None:
    """`\\8` is no octal digit: it ended a whole evaluation."""
    assert isinstance(find_refusal(patch.encode(), PATH), Refusal)


def test_huge_line_count_in_a_hunk_header_is_malformed() -> None:
    patch = PATCH.replace('@@ -1,', f'@@ -1,{"9" * 5000}')
    assert applied(patch) == Detail.MALFORMED


@pytest.mark.parametrize(
    ('file', 'detail'),
    [
        (START.encode(), Detail.EMPTY),
        (b'class A {\0}', Detail.BINARY),
        (b'x' * (MOST_BYTES + 1), Detail.TOO_LARGE),
        (b'class A {' * 3000 + b'}' * 3000, Detail.TOO_LARGE),
    ],
    ids=['as at the start', 'no text', 'too large', 'too deep'],
)
def test_bad_whole_file_is_refused_with_its_detail(file: bytes, detail: Detail) -> None:
    made = replace_file(file, PATH, START.encode())
    assert isinstance(made, Refusal)
    assert made.detail == detail
    early = find_file_refusal(file, PATH)
    assert (early is None) == (detail is Detail.EMPTY)


def test_whole_file_is_taken_byte_by_byte() -> None:
    """Other line ends, no last newline, nothing at all: whoever hands in a file means it."""
    for file in (b'class A {\r\n}', b'', b'\xff'):
        assert replace_file(file, PATH, START.encode()) == AppliedFile(content=file)
    assert replace_file(START.encode(), PATH, None) == AppliedFile(content=START.encode())


def test_file_with_a_declaration_that_its_language_refuses_is_not_accepted() -> None:
    path, start = 'shop_test.go', b'package shop\n'
    made = AppliedFile(content=start + b'\nfunc init() {}\n')
    refusal = refuse_by_language(made, path, (start, None))
    assert isinstance(refusal, Refusal)
    assert refusal.detail is Detail.NOT_ACCEPTED
    assert refusal.message == 'a submitted file may not declare init'
    assert refuse_by_language(made, path, (start, made.content)) is made
    gone = AppliedFile(content=None)
    assert refuse_by_language(gone, path, (start, None)) is gone
