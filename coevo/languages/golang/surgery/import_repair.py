"""Repairs the imports of a file that was composed from two: it gets exactly those that it uses.

An unused import is an error in Go (https://go.dev/ref/spec#Import_declarations). The names of
imports are taken from the original files, which use all of their imports.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coevo.languages.golang.reading.imports import GoImport, is_standard_package
from coevo.languages.golang.surgery.cuts import find_line_of_group, include_separator
from coevo.languages.golang.surgery.pieces import GoOutline, make_outline
from coevo.languages.text_edits import TextEdits, find_line_end

_EMBED = 'embed'


def repair_imports(made: bytes, file: GoOutline, olds: Sequence[GoOutline]) -> bytes:
    """Return a composed text with exactly the imports that it uses: cut unused, add missing ones.

    made  the composed text
    file  the version that provides most of the text and the present imports
    olds  the versions that provide the rest of the text, and the missing imports
    """
    now = make_outline(made)
    used = now.qualifiers
    edits = TextEdits(made)
    remaining = [import_ for import_ in now.imports if _is_still_needed(import_, file, used, now)]
    _cut_imports(edits, now, remaining)
    bound = {_find_package_name(import_, file) for import_ in remaining}
    lacking: dict[str, GoImport] = {}
    for old in olds:
        for import_ in old.imports:
            name = _find_package_name(import_, old)
            if name in used - bound and import_.is_used_by_name:
                lacking.setdefault(name, import_)
            elif _is_needed_unnamed(import_, now, remaining):
                lacking.setdefault(f'{import_.name} {import_.path}', import_)
    for import_ in lacking.values():
        _add_import(edits, now, import_, remaining)
    return edits.apply_edits()


def _find_package_name(one: GoImport, file: GoOutline) -> str:
    return one.name or file.bound.get(one.path, '')


def _is_still_needed(one: GoImport, file: GoOutline, used: frozenset[str], now: GoOutline) -> bool:
    if one.name == '.':
        return bool(_list_undeclared_exported_names(now))
    if one.path == _EMBED and one.name == '_':
        return b'//go:embed' in now.source
    if not one.is_used_by_name:
        return True
    return _find_package_name(one, file) in used


def _is_needed_unnamed(one: GoImport, now: GoOutline, kept: Iterable[GoImport]) -> bool:
    """Return whether an import as `.`, or of embed as `_`, is needed and not among those kept."""
    if any((each.name, each.path) == (one.name, one.path) for each in kept):
        return False
    if one.name == '.':
        return bool(_list_undeclared_exported_names(now))
    return (one.name, one.path) == ('_', _EMBED) and b'//go:embed' in now.source


def _list_undeclared_exported_names(now: GoOutline) -> frozenset[str]:
    """Return the used names that begin with a capital letter and are not declared in the file.

    Only an import as `.` can provide them, or another file of the package.
    """
    used = frozenset().union(*(piece.uses for piece in now.pieces))
    return frozenset(name for name in used - now.declared_names if name[:1].isupper())


def _cut_imports(edits: TextEdits, now: GoOutline, kept: Sequence[GoImport]) -> None:
    """Cut the imports that are not kept; cut a whole declaration if it keeps none."""
    for declaration in dict.fromkeys(import_.declaration for import_ in now.imports):
        own = [import_ for import_ in now.imports if import_.declaration == declaration]
        removed = [import_ for import_ in own if import_ not in kept]
        if len(removed) == len(own):
            edits.cut_span(*include_separator(now.source, now.widen_to_comments(declaration)))
            continue
        for import_ in removed:
            edits.cut_span(*find_line_of_group(now.source, now.widen_to_comments(import_.spec)))


def _add_import(edits: TextEdits, now: GoOutline, one: GoImport, kept: Sequence[GoImport]) -> None:
    """Insert an import in the order of paths among grouped imports of its kind.

    Kinds are the standard library and everything else. Without a group, the import becomes a
    declaration below the last one or below the package clause.
    """
    text = (f'{one.name} ' if one.name else '') + f'"{one.path}"'
    grouped = [each for each in kept if _is_grouped(now, each)]
    alike = [
        each for each in grouped if is_standard_package(each.path) == is_standard_package(one.path)
    ] or grouped
    before = [each for each in alike if each.path < one.path]
    if before:
        edits.insert(find_line_end(now.source, before[-1].spec[1]), f'\n\t{text}'.encode())
    elif alike:
        edits.insert(_find_line_start(now.source, alike[0].spec[0]), f'\t{text}\n'.encode())
    elif kept:
        edits.insert(
            find_line_end(now.source, kept[-1].declaration[1]), f'\nimport {text}'.encode()
        )
    else:
        edits.insert(_find_package_clause_end(now), f'\n\nimport {text}'.encode())


def _is_grouped(now: GoOutline, one: GoImport) -> bool:
    """Return whether an import stands on a line of its own in a group."""
    start = _find_line_start(now.source, one.spec[0])
    return one.declaration[0] < start and not now.source[start : one.spec[0]].strip()


def _find_package_clause_end(now: GoOutline) -> int:
    """Return the end of the line with the package clause."""
    for node in now.root.children:
        if node.type == 'package_clause':
            return find_line_end(now.source, node.end_byte)
    return 0


def _find_line_start(source: bytes, at: int) -> int:
    return source.rfind(b'\n', 0, at) + 1
