"""Lists the imports of a Go file, and recognizes packages of the standard library by their paths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass

from tree_sitter import Node

from coevo.languages.declarations import Import
from coevo.languages.spans import Span

_VERSION = re.compile(r'v\d+')
_WORD = re.compile(r'[^\W\d]\w*')
_PARTS = re.compile(r'\W+')


@dataclass(frozen=True, slots=True, kw_only=True)
class GoImport:
    """One imported package.

    name         as written before the path, otherwise ''
    spec         the span of its line
    declaration  the span of the whole declaration that contains it
    """

    path: str
    name: str
    spec: Span
    declaration: Span

    @property
    def is_used_by_name(self) -> bool:
        """True if the file refers to the package by a name: not for `.`, `_` and the package C."""
        return self.name not in ('.', '_') and self.path != 'C'


def list_imports(root: Node, source: bytes) -> Iterator[GoImport]:
    """Yield all imports of a file, in order."""
    for declaration in root.children:
        if declaration.type != 'import_declaration':
            continue
        for spec in _list_specs(declaration):
            path = spec.child_by_field_name('path')
            name = spec.child_by_field_name('name')
            yield GoImport(
                path=_read_text(path, source)[1:-1],
                name=_read_text(name, source),
                spec=(spec.start_byte, spec.end_byte),
                declaration=(declaration.start_byte, declaration.end_byte),
            )


def _list_specs(declaration: Node) -> Iterator[Node]:
    for child in declaration.children:
        if child.type == 'import_spec':
            yield child
        elif child.type == 'import_spec_list':
            yield from (each for each in child.children if each.type == 'import_spec')


def infer_import_names(
    found: Sequence[GoImport], qualifiers: AbstractSet[str]
) -> Mapping[str, str]:
    """Return the name under which a file uses each import, by the path of the import.

    A name that the import does not state is guessed from its path and from `qualifiers`. Imports as
    `.` or `_` are left out.

    qualifiers  the names that stand before dots in the file and are not local
    """
    named = {
        import_.path: import_.name for import_ in found if import_.name and import_.is_used_by_name
    }
    left = [import_.path for import_ in found if not import_.name and import_.is_used_by_name]
    free = set(qualifiers) - set(named.values())
    for path in left:
        likely = next((name for name in guess_package_names(path) if name in free), None)
        if likely is not None:
            named[path] = likely
    free -= set(named.values())
    rest = [path for path in left if path not in named]
    for path in rest:
        alike = [name for name in sorted(free) if _resembles_path(name, path)]
        alike += sorted(free) if len(free) == len(rest) == 1 else ()
        named[path] = alike[0] if alike else next(guess_package_names(path))
    return named


def guess_package_names(path: str) -> Iterator[str]:
    """Yield the names that the package at an import path may have, the likeliest first.

    At least one is yielded; some may come twice.
    """
    parts = [part for part in path.split('/') if part] or ['_']
    last = parts[-1]
    if _VERSION.fullmatch(last) and len(parts) > 1:
        last = parts[-2]
    stem = re.sub(r'\.v\d+(-unstable)?$', '', last)
    bare = re.sub(r'^go[-.]|[-.]go$', '', stem)
    for text in (bare, stem, *reversed(_PARTS.split(stem)), parts[-1]):
        for name in (text, text.replace('-', '_'), text.replace('-', ''), text.replace('.', '')):
            if _WORD.fullmatch(name):
                yield name
    yield _PARTS.sub('_', last)


def _resembles_path(name: str, path: str) -> bool:
    text = path.lower()
    return name.lower() in text or any(
        part in name.lower() for part in _PARTS.split(text)[-2:] if len(part) > 2
    )


def make_import_records(found: Iterable[GoImport], names: Mapping[str, str]) -> Iterator[Import]:
    """Yield an `Import` for each Go import: its text is the path, its name that of the package.

    The name is `*` for an import as `.`, and `_` for one as `_`.

    names  the names that `infer_import_names` found, by path
    """
    for import_ in found:
        name = import_.name if import_.name in ('.', '_') else names.get(import_.path, import_.name)
        yield Import(
            text=import_.path,
            name='*' if name == '.' else name,
            static=False,
            start_byte=import_.spec[0],
            end_byte=import_.spec[1],
        )


def _read_text(node: Node | None, source: bytes) -> str:
    if node is None:
        return ''
    return source[node.start_byte : node.end_byte].decode(errors='replace')


_FIRST = frozenset(
    {
        *(
            'archive',
            'arena',
            'bufio',
            'builtin',
            'bytes',
            'cmp',
            'compress',
            'container',
            'context',
        ),
        *(
            'crypto',
            'database',
            'debug',
            'embed',
            'encoding',
            'errors',
            'expvar',
            'flag',
            'fmt',
            'go',
        ),
        *(
            'hash',
            'html',
            'image',
            'index',
            'io',
            'iter',
            'log',
            'maps',
            'math',
            'mime',
            'net',
            'os',
        ),
        *('path', 'plugin', 'reflect', 'regexp', 'runtime', 'slices', 'sort', 'strconv', 'strings'),
        *('structs', 'sync', 'syscall', 'testing', 'text', 'time', 'unicode', 'unique', 'unsafe'),
        *('weak', 'C'),
    }
)


def is_standard_package(path: str) -> bool:
    """Return whether an import path is of the standard library, by its first part.

    `C` counts, too.
    """
    return path.partition('/')[0] in _FIRST
