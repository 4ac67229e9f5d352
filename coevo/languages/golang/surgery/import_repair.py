"""The imports of a file that was put together of two: those that it uses, no more and no fewer.

An import that nothing uses is an error in Go (https://go.dev/ref/spec#Import_declarations). Which name an
import has is told by the files that it comes from, which use all of theirs.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Sequence

from coevo.languages.golang.reading.imports import Imported
from coevo.languages.golang.reading.std import is_std
from coevo.languages.golang.surgery.cuts import line_of_group
from coevo.languages.golang.surgery.cuts import with_separator
from coevo.languages.golang.surgery.pieces import GoOutline
from coevo.languages.golang.surgery.pieces import outline
from coevo.languages.text_edits import TextEdits

_EMBED = 'embed'


def with_imports(made: bytes, file: GoOutline, olds: Sequence[GoOutline]) -> bytes:
    """A text with the imports that it needs.

    file  the version of which it is for the greater part, with whose imports it stands
    olds  those from which it has the rest
    """
    now = outline(made)
    used = now.qualifiers
    edits = TextEdits(made)
    kept = [one for one in now.imports if _stays(one, file, used, now)]
    _cut(edits, now, kept)
    bound = {_name(one, file) for one in kept}
    lacking: dict[str, Imported] = {}
    for old in olds:
        for one in old.imports:
            name = _name(one, old)
            if name in used - bound and one.is_used_by_name:
                lacking.setdefault(name, one)
            elif _comes_unnamed(one, now, kept):
                lacking.setdefault(f'{one.name} {one.path}', one)
    for one in lacking.values():
        _add(edits, now, one, kept)
    return edits.result()


def _name(one: Imported, file: GoOutline) -> str:
    return one.name or file.bound.get(one.path, '')


def _stays(one: Imported, file: GoOutline, used: frozenset[str], now: GoOutline) -> bool:
    if one.name == '.':
        return bool(_unexplained(now))
    if one.path == _EMBED and one.name == '_':
        return b'//go:embed' in now.source
    if not one.is_used_by_name:
        return True
    return _name(one, file) in used


def _comes_unnamed(one: Imported, now: GoOutline, kept: Iterable[Imported]) -> bool:
    """Whether an import without a name of its own is needed, and not there."""
    if any((each.name, each.path) == (one.name, one.path) for each in kept):
        return False
    if one.name == '.':
        return bool(_unexplained(now))
    return (one.name, one.path) == ('_', _EMBED) and b'//go:embed' in now.source


def _unexplained(now: GoOutline) -> frozenset[str]:
    """Names that are exported somewhere, and not declared in the file."""
    used = frozenset().union(*(piece.uses for piece in now.pieces))
    return frozenset(name for name in used - now.declared_names if name[:1].isupper())


def _cut(edits: TextEdits, now: GoOutline, kept: Sequence[Imported]) -> None:
    """Lines that go, and declarations of which none is left."""
    for declaration in dict.fromkeys(one.declaration for one in now.imports):
        own = [one for one in now.imports if one.declaration == declaration]
        gone = [one for one in own if one not in kept]
        if len(gone) == len(own):
            edits.cut(*with_separator(now.source, now.with_comments(declaration)))
            continue
        for one in gone:
            edits.cut(*line_of_group(now.source, now.with_comments(one.spec)))


def _add(edits: TextEdits, now: GoOutline, one: Imported, kept: Sequence[Imported]) -> None:
    """Among lines of its kind, in their order, or on a line of its own."""
    text = (f'{one.name} ' if one.name else '') + f'"{one.path}"'
    grouped = [each for each in kept if _is_grouped(now, each)]
    alike = [each for each in grouped if is_std(each.path) == is_std(one.path)] or grouped
    before = [each for each in alike if each.path < one.path]
    if before:
        edits.insert(_line_end(now.source, before[-1].spec[1]), f'\n\t{text}'.encode())
    elif alike:
        edits.insert(_line_start(now.source, alike[0].spec[0]), f'\t{text}\n'.encode())
    elif kept:
        edits.insert(_line_end(now.source, kept[-1].declaration[1]), f'\nimport {text}'.encode())
    else:
        edits.insert(_head(now), f'\n\nimport {text}'.encode())


def _is_grouped(now: GoOutline, one: Imported) -> bool:
    """Whether it stands on a line of its own under a keyword."""
    start = _line_start(now.source, one.spec[0])
    return one.declaration[0] < start and not now.source[start : one.spec[0]].strip()


def _head(now: GoOutline) -> int:
    """Where the package clause ends, with the comment behind it."""
    for node in now.root.children:
        if node.type == 'package_clause':
            return _line_end(now.source, node.end_byte)
    return 0


def _line_start(source: bytes, at: int) -> int:
    return source.rfind(b'\n', 0, at) + 1


def _line_end(source: bytes, at: int) -> int:
    stop = source.find(b'\n', at)
    return len(source) if stop < 0 else stop - (source[stop - 1 : stop] == b'\r')
