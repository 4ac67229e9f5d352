"""Patches as they come: what is refused, why, and what is applied; Git is the real one."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.evaluation.judging.application import MOST_BYTES
from coevo.evaluation.judging.application import Applied
from coevo.evaluation.judging.application import Refusal
from coevo.evaluation.judging.application import accepted
from coevo.evaluation.judging.application import apply
from coevo.evaluation.judging.application import replaced
from coevo.evaluation.judging.application import reverted
from coevo.evaluation.judging.application import unacceptable
from coevo.evaluation.judging.application import unacceptable_file
from coevo.evaluation.judging.parser_guard import is_readable
from coevo.evaluation.outcomes import Detail
from coevo.git.patches import file_patch
from tests.repos import commit
from tests.repos import git
from tests.repos import init

PATH = 'src/test/java/p/ATest.java'
START = 'class ATest {\n    void a() {}\n\n    void b() {}\n}\n'
MADE = START.replace('a() {}', 'a() { b(); }')
PATCH = file_patch(PATH, START, MADE)


def applied(patch: str | bytes, start: str | bytes | None = START, path: str = PATH) -> object:
    raw, old = (x.encode() if isinstance(x, str) else x for x in (patch, start))
    made = apply(raw, path, old)
    if isinstance(made, Refusal):
        return made.detail
    return None if made.content is None else made.content.decode('latin-1')


def header(old: str, new: str, *, git: str = '') -> str:
    """The same hunk under another header."""
    return f'{git}--- {old}\n+++ {new}\n@@{PATCH.partition("@@")[2]}'


def test_a_diff_of_gits_is_applied() -> None:
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
def test_a_diff_of_other_tools_is_applied(patch: str) -> None:
    assert applied(patch) == MADE


def test_hunks_may_stand_at_other_lines() -> None:
    start = ''.join(f'line {n}\n' for n in range(20))
    made = start.replace('line 9', 'nine')
    patch = file_patch(PATH, start, made)
    assert applied(patch, f'one more\n{start}') == f'one more\n{made}'
    assert applied(patch, start.replace('line 8', 'eight')) == Detail.DOES_NOT_APPLY


def test_lines_of_a_hunk_are_no_headers() -> None:
    """Lines of a file that look like the headers of another one."""
    start = 'a\n-- old.sql\n++ x\nz\n'
    made = 'a\n++ /dev/null\nz\n'
    patch = file_patch(PATH, start, made)
    assert '\n--- old.sql\n' in patch
    assert applied(patch, start) == made


def test_files_may_be_made_and_deleted() -> None:
    assert applied(file_patch(PATH, None, MADE), None) == MADE
    assert applied(file_patch(PATH, START, None)) is None
    assert applied(f'diff --git a/{PATH} b/{PATH}\nnew file mode 100644\nindex 0..0\n', None) == ''


def test_without_a_line_feed_at_the_end() -> None:
    bare = MADE.removesuffix('\n')
    assert applied(file_patch(PATH, START, bare)) == bare
    assert applied(file_patch(PATH, bare, START), bare) == START


def test_names_that_git_quotes() -> None:
    path = 'src/test/java/p/"Ü\tTest".java'
    patch = file_patch(path, START, MADE)
    assert '\\303' in patch
    assert applied(patch, path=path) == MADE
    assert applied(PATCH, path=path) == Detail.OTHER_FILE


def test_without_lines_a_quoted_name_stands_in_the_title() -> None:
    path = 'src/test/java/p/ÜTest.java'
    title = '"a/src/test/java/p/\\303\\234Test.java" "b/src/test/java/p/\\303\\234Test.java"'
    patch = f'diff --git {title}\nnew file mode 100644\nindex 0..0\n'
    assert applied(patch, None, path) == ''
    assert applied(patch, None) == Detail.OTHER_FILE


def test_latin_1_may_come_as_text_or_as_gits_binary() -> None:
    start, made = START.encode() + b'// \xe9\n', MADE.encode() + b'// \xe9\n'
    binary = file_patch(PATH, start, made)
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
        (file_patch(PATH, None, MADE), Detail.DOES_NOT_APPLY),
        (PATCH.replace('\n', '\r\n'), Detail.LINE_ENDS),
        (file_patch(PATH, START, MADE + '\0'), Detail.BINARY),
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
        (PATCH + file_patch('src/test/java/p/BTest.java', None, 'class B {}\n'), Detail.OTHER_FILE),
        (file_patch('src/main/java/p/A.java', 'a\n', 'b\n') + PATCH, Detail.PRODUCTION_CODE),
        (file_patch('core/src/main/resources/a', 'a\n', 'b\n'), Detail.PRODUCTION_CODE),
        (file_patch('lib/A.java', 'a\n', 'b\n'), Detail.PRODUCTION_CODE),
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
def test_what_is_refused_and_why(patch: str, detail: Detail | None) -> None:
    made = apply(patch.encode(), PATH, START.encode(), {'lib/A.java'})
    assert (made.detail if isinstance(made, Refusal) else None) == detail


def test_a_file_with_crlf_takes_patches_with_crlf_alone() -> None:
    start, made = (text.replace('\n', '\r\n') for text in (START, MADE))
    assert applied(file_patch(PATH, start, made), start) == made
    assert applied(PATCH, start) == Detail.LINE_ENDS


def test_no_prediction_is_no_patch() -> None:
    assert unacceptable(None, PATH) == Refusal(detail=Detail.NO_PREDICTION)
    assert unacceptable(PATCH.encode(), PATH) is None


def test_nothing_outside_of_its_folder_is_written(tmp_path: Path) -> None:
    outside = tmp_path / 'outside'
    patch = header('/dev/null', str(outside)).replace('@@ -1,5 +1,5 @@', '@@ -0,0 +1,5 @@')
    assert applied(patch) in (Detail.OTHER_FILE, Detail.MALFORMED)
    assert not outside.exists()


def test_what_git_does_with_a_real_history(tmp_path: Path) -> None:
    """A diff of real commits, with a mode, a moved line and no line feed at the end."""
    repository = init(tmp_path / 'repository')
    start, made = 'a\nb\nc\n' * 30, 'a\nb\nc\n' * 29 + 'c\na\nend'
    commit(repository, 'one', {PATH: start})
    commit(repository, 'two', {PATH: made})
    assert applied(git(repository, 'diff', 'HEAD~', 'HEAD') + '\n', start) == made


def test_gold_is_undone() -> None:
    assert reverted(PATCH, PATH, MADE.encode()) == START.encode()
    assert reverted(file_patch(PATH, None, MADE), PATH, MADE.encode()) is None
    latin = [text.encode() + b'\xe9' for text in (START, MADE)]
    assert reverted(file_patch(PATH, *latin), PATH, latin[1]) == latin[0]
    with pytest.raises(ValueError, match='not about'):
        reverted(PATCH, 'other', MADE.encode())
    with pytest.raises(ValueError, match='patch failed'):
        reverted(PATCH, PATH, b'something else\n')


def test_content_is_bytes_of_the_file() -> None:
    made = apply(PATCH.encode(), PATH, START.encode())
    assert made == Applied(content=MADE.encode())


def test_what_our_parser_does_not_survive_is_refused() -> None:
    """Nested classes take our own stack; brackets that nobody closes, time: a machine reads a million in a second."""
    nested = 'class A {' * 3000 + '}' * 3000 + '\n'
    assert applied(file_patch(PATH, START, nested)) == Detail.TOO_LARGE
    assert not is_readable('Test.java', b'(' * 6_000_000, cpu_seconds=1)


def test_a_long_file_is_no_deep_one() -> None:
    methods = '    void a() { a(1); }\n' * 4000
    long = f'class ATest {{\n{methods}}}\n'
    assert applied(file_patch(PATH, START, long)) == long


@pytest.mark.parametrize(
    'patch',
    [
        header('"a/\\8"', f'b/{PATH}'),
        header('"a/\\9\\x"', '"'),
        header('"', '""'),
        f'diff --git "a/\\8" "b/\\8"\n{PATCH}',
    ],
)
def test_no_quoted_name_is_more_than_a_refusal(patch: str) -> None:
    """`\\8` is no octal digit: it ended a whole evaluation."""
    assert isinstance(unacceptable(patch.encode(), PATH), Refusal)


def test_a_count_may_have_any_number_of_digits() -> None:
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
def test_a_whole_file_is_refused_as_a_patched_one_is(file: bytes, detail: Detail) -> None:
    made = replaced(file, PATH, START.encode())
    assert isinstance(made, Refusal)
    assert made.detail == detail
    early = unacceptable_file(file, PATH)
    assert (early is None) == (detail is Detail.EMPTY)


def test_a_whole_file_stands_as_it_is() -> None:
    """Other line ends, no last newline, nothing at all: whoever hands in a file means it."""
    for file in (b'class A {\r\n}', b'', b'\xff'):
        assert replaced(file, PATH, START.encode()) == Applied(content=file)
    assert replaced(START.encode(), PATH, None) == Applied(content=START.encode())


def test_a_file_that_brings_what_its_language_refuses_is_not_accepted() -> None:
    path, start = 'shop_test.go', b'package shop\n'
    made = Applied(content=start + b'\nfunc init() {}\n')
    refusal = accepted(made, path, (start, None))
    assert isinstance(refusal, Refusal)
    assert refusal.detail is Detail.NOT_ACCEPTED
    assert refusal.said == 'a submitted file may not declare init'
    assert accepted(made, path, (start, made.content)) is made
    gone = Applied(content=None)
    assert accepted(gone, path, (start, None)) is gone
