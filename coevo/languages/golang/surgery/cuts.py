"""Removes pieces from a Go file and inserts others, so that the result is a valid file with its
imports.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence

from coevo.languages.core.cut_plans import OldFile, find_new_and_old_neighbour
from coevo.languages.golang.reading.imports import GoImport, is_standard_package
from coevo.languages.golang.surgery.pieces import GoOutline, GoPart, GoPiece, make_outline
from coevo.languages.spans import Span
from coevo.languages.text_edits import TextEdits, find_line_end, widen_to_whole_lines

# Removes pieces from a Go file and inserts others, so that the result is a valid file.

OldGoFile = OldFile[GoOutline, GoPiece]


def remove_pieces(edits: TextEdits, file: GoOutline, gone: Sequence[GoPiece]) -> None:
    """Cut all parts of some pieces out of a file, as `remove_parts` does.

    edits  receives the cuts; nothing is returned
    """
    remove_parts(edits, file, [part for piece in gone for part in piece.parts])


def remove_parts(edits: TextEdits, file: GoOutline, taken: Collection[GoPart]) -> None:
    """Cut some parts of declarations out of a file.

    If all lines of a group are cut, such as `var ( … )`, its keyword and brackets are cut, too.

    edits  receives the cuts; nothing is returned
    taken  the parts to cut
    """
    left: dict[Span, int] = {}
    for piece in file.pieces:
        for part in piece.parts:
            left[part.whole] = left.get(part.whole, 0) + (part not in taken)
    for part in taken:
        if not part.is_line or not left[part.whole]:
            edits.cut_span(*include_separator(file.source, part.whole))
        else:
            edits.cut_span(*find_line_of_group(file.source, part.text))


def include_separator(source: bytes, span: Span) -> Span:
    """Return a span extended over semicolons and blanks behind it.

    Without a semicolon on its line, it is returned unchanged.
    """
    start, end = span
    rest = source[end:]
    behind = rest[: len(rest) - len(rest.lstrip(b' \t;'))]
    return (start, end + len(behind)) if b';' in behind else span


def find_line_of_group(source: bytes, span: Span) -> Span:
    """Return the whole line of a span in a group such as `var ( … )`, as a span.

    If the line is the first or last of its group, the empty lines beside it are included.
    """
    start, end = widen_to_whole_lines(source, *include_separator(source, span))
    before, behind = source[:start].rstrip(), source[end:].lstrip()
    if behind.startswith(b')') and b'\n' in source[len(before) : start]:
        return source.find(b'\n', len(before)) + 1, end
    if before.endswith(b'('):
        return start, max(end, source.rfind(b'\n', 0, len(source) - len(behind)) + 1)
    return start, end


def add_piece(
    edits: TextEdits, file: OldGoFile, piece: GoPiece, standing: Sequence[GoPiece]
) -> None:
    """Insert an old piece into the new file, beside the nearest neighbour that both files have.

    It follows the nearest neighbour above it, else precedes the nearest below it, else comes last.

    edits     receives the insertion; nothing is returned
    standing  the pieces that stay in the new file
    """
    body = b'\n\n'.join(_list_part_texts(file, piece))
    anchors: dict[Hashable, GoPiece] = {name: each for each in standing for name in each.names}
    anchors |= {was.names[0]: at for at, was in file.targets.items() if at in standing}
    neighbour = find_new_and_old_neighbour(piece, file.pieces, file.list_taken_slots, anchors)
    if neighbour is None:
        gap = b'\n' if file.new.source.endswith(b'\n') else b'\n\n'
        edits.insert(len(file.new.source), gap + body + b'\n')
        return
    anchor, before = neighbour
    if before is None:
        last = max(part.whole[1] for part in anchor.parts)
        edits.insert(find_line_end(file.new.source, last), b'\n\n' + body)
    else:
        edits.insert(anchor.first_part.whole[0], body + b'\n\n')


def _list_part_texts(file: OldGoFile, piece: GoPiece) -> Iterator[bytes]:
    """Yield the texts of a piece's parts; a line of a group is wrapped in a group of its own."""
    for part in piece.parts:
        text = file.old.load_part(part)
        yield wrap_in_keyword(piece.kind, part, text, file.old.source) if part.is_line else text


def wrap_in_keyword(kind: str, part: GoPart, text: bytes, source: bytes) -> bytes:
    """Return a line of a group as a group of its own: `var (`, the line, `)`.

    kind    the keyword
    text    the text of the line
    source  the file, from which the line's indentation is taken
    """
    margin = source[source.rfind(b'\n', 0, part.text[0]) + 1 : part.text[0]]
    before = margin if not margin.strip() else b'\t'
    return kind.encode() + b' (\n' + before + text + b'\n)'


# Repairs the imports of a file that was composed from two: it gets exactly those that it uses.
#
# An unused import is an error in Go (https://go.dev/ref/spec#Import_declarations). The names of
# imports are taken from the original files, which use all of their imports.

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
