"""Patches broken at random."""

from __future__ import annotations

from random import Random

from coevo.git.patches import make_file_patch
from tests.fuzz.bytes_of import broken

WORDS = (
    *(
        b'"a/\\8"',
        b'"',
        b'\\',
        b'"a/\\377\\0',
        b'/dev/null',
        b'a/',
        b'b/',
        b'\0',
        b'\xff',
        b'\xef\xbb\xbf',
    ),
    *(
        b'@@ -1 +1 @@',
        b'@@ -1,99999999999999999999 +1,0 @@',
        b'@@ -0,0 +1 @@',
        b'@@ -1,3 +1,3 @@ x',
    ),
    *(
        b'--- a/pom.xml',
        b'+++ b/pom.xml',
        b'--- ',
        b'+++ ',
        b'---',
        b'diff --git a/x b/x',
        b'diff --git ',
    ),
    *(
        b'rename from a',
        b'rename to b',
        b'copy from a',
        b'similarity index 100%',
        b'deleted file mode 100644',
    ),
    *(b'new file mode 120000', b'new file mode 160000', b'old mode 100644', b'new mode 100755'),
    *(
        b'index 0..0',
        b'index 00..11 120000',
        b'GIT binary patch',
        b'literal 0',
        b'literal 4',
        b'delta 9',
    ),
    *(
        b'Binary files a and b differ',
        b'\\ No newline at end of file',
        b'+' * 3000,
        b'-',
        b'+',
        b' ',
    ),
    *(
        b'class $Outer { class $Inner {} }',
        b'{' * 300,
        b'(' * 2000,
        b'/*',
        b'*/',
        b'"""',
        b'\\u000a',
    ),
)


def seeds(path: str, start: str, gold: str) -> tuple[bytes, ...]:
    """Sound patches of every kind, from which the broken ones come."""
    plain = make_file_patch(path, start, gold)
    latin = make_file_patch(path, start.encode(), start.encode() + b'\xe9\n')
    other = make_file_patch('src/main/java/shop/Till.java', 'a\n', 'b\n')
    return (
        plain.encode(),
        make_file_patch(path, start, None).encode(),
        make_file_patch(path, None, gold).encode(),
        latin.encode('utf-8', 'surrogateescape'),
        plain.replace(f'a/{path}', f'"a/{path}"').encode(),
        plain.replace('\n', '\r\n').encode(),
        (plain + other).encode(),
        make_file_patch(path, start.replace('\n', '\r\n'), gold.replace('\n', '\r\n')).encode(),
    )


def patch(seed: int, sound: tuple[bytes, ...]) -> bytes:
    """One broken patch; every tenth is two of them in a row."""
    random = Random(seed)
    made = broken(random, random.choice(sound), WORDS)
    return made + broken(random, random.choice(sound), WORDS) if seed % 10 == 0 else made
