"""Lists the imports of a Go file, and finds the folders of imported packages."""

from __future__ import annotations

import posixpath
import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from pathlib import PurePosixPath

from tree_sitter import Node

from coevo.languages.declarations import Import
from coevo.languages.golang.reading.layout import GO_MOD
from coevo.languages.spans import Span
from coevo.storage.beneath import find_path_fault

# Lists the imports of a Go file, and recognizes packages of the standard library by their paths.

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


# Finds the folder of an imported package, by go.mod files, by workspaces (`go.work`), or by how the
# repository imports it.

# https://go.dev/ref/mod#go-mod-file-grammar
_MODULE = re.compile(rb'^[ \t]*module[ \t(]+["`]?([^\s"`()]+)["`]?', re.MULTILINE)
_CLEAN = re.compile(r'([A-Za-z0-9._~+-]+(/[A-Za-z0-9._~+-]+)*)?')
_HOST = re.compile(r'[^/]+\.[^/]+/[^/]+')


@lru_cache(maxsize=256)
def parse_module_path(go_mod: bytes) -> str:
    """Return the path that a go.mod declares for its module; '' if it declares none."""
    match = _MODULE.search(go_mod)
    return match[1].decode(errors='replace') if match else ''


def find_module_path_fault(path: str) -> str | None:
    """Return why a module's path cannot name a folder in the sandbox, in a word; None if it can.

    The go command itself allows letters, digits and `-._~+` in import paths
    (golang.org/x/mod/module, CheckImportPath). '' is accepted: a nested module may not declare its
    path.
    """
    fault = find_path_fault(path) if path else None
    if fault is not None:
        return fault.value
    return None if _CLEAN.fullmatch(path) else 'characters'


def make_go_mod_path(folder: str) -> str:
    """Return the path of the go.mod in a folder; the folder '.' is the root."""
    return posixpath.normpath(posixpath.join(folder, GO_MOD))


def find_owning_module(package: str, folders: Container[str]) -> str:
    """Return the nearest folder at or above a package folder that is in `folders`; '.' if none is.

    folders  the folders of the modules
    """
    above = (str(folder) for folder in PurePosixPath(package, '_').parents)
    return next((folder for folder in above if folder in folders), '.')


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportingFile:
    """The imports of a file.

    is_external  whether the file is of a package `foo_test` in the folder of foo
    """

    folder: str
    package: str
    is_external: bool
    imports: tuple[str, ...]


def guess_root_import_path(files: Iterable[ImportingFile], folders: frozenset[str]) -> str:
    """Return the path by which a tree without go.mod imports itself, such as `github.com/o/n`.

    It is the one that most imports suggest; '' if none does.

    folders  all folders with Go files; '.' is the root
    """
    votes: Counter[str] = Counter()
    for file in files:
        for path in file.imports:
            votes.update(_list_possible_roots(path, file, folders))
    best = max(votes.values(), default=0)
    return min((root for root, count in votes.items() if count == best), default='')


def _list_possible_roots(path: str, file: ImportingFile, folders: frozenset[str]) -> Iterable[str]:
    """Yield the paths that the root may have, if an import refers to a folder of the tree.

    Yields nothing for an import without a host, such as `fmt`.
    """
    if not _HOST.match(path):
        return
    if file.is_external and file.folder == '.' and file.package in guess_package_names(path):
        yield path
    parts = path.split('/')
    for count in range(1, len(parts) - 1):
        root, folder = '/'.join(parts[:-count]), '/'.join(parts[-count:])
        if folder in folders and _HOST.match(root):
            yield root


class GoModulePaths:
    """Finds the folder of a package in a revision by its import path.

    roots    the path of each module, by its folder
    folders  all folders with Go files
    """

    def __init__(self, roots: Mapping[str, str], folders: frozenset[str]) -> None:
        self._roots = sorted(roots.items(), key=lambda item: (-len(item[1]), item[0]))
        self._nested = frozenset(roots) - {'.'}
        self._folders = folders

    def find_package_folder(self, path: str) -> str | None:
        """Return the folder of the package with an import path; None if the revision has none."""
        for root, module in self._roots:
            if not module or not f'{path}/'.startswith(f'{module}/'):
                continue
            rest = path[len(module) + 1 :]
            package_folder = '/'.join(part for part in (root.strip('.'), rest) if part) or '.'
            if package_folder in self._folders:
                return package_folder
        return None


# Reads workspaces (`go.work`): modules that use each other's files instead of released versions.
#
# A cell is built with one go.mod, so `replace` lines in it take the place of the workspace
# (https://go.dev/ref/mod#workspaces, https://go.dev/ref/mod#go-mod-file-replace).

_COMMENT = re.compile(r'//.*')
_BLOCK = re.compile(r'^[ \t]*(\w+)[ \t]*\(([^)]*)\)', re.MULTILINE)


def list_module_folders(go_work: bytes) -> tuple[str, ...]:
    """Return the folders of the modules that a go.work uses, in order.

    Folders outside of the folder of the go.work are left out.
    """
    words = (line.strip('"`') for line in _list_arguments(go_work, 'use'))
    folders = (posixpath.normpath(word) for word in words)
    return tuple(
        folder for folder in folders if folder != '..' and not folder.startswith(('../', '/'))
    )


def add_workspace_replacements(texts: Mapping[str, bytes], go_work: bytes) -> dict[str, bytes]:
    """Return all files, with `replace` lines in each go.mod for other modules of the workspace.

    Modules that a go.mod already replaces are left as they are.

    texts  go.mod and other files by path
    """
    extended = dict(texts)
    for module in list_module_folders(go_work):
        lines = [
            f'replace {path} => {where}\n'
            for path, where in list_workspace_replacements(module, texts, go_work)
        ]
        if lines:
            extended[make_go_mod_path(module)] += ''.join(['\n\n', *lines]).encode()
    return extended


def list_workspace_replacements(
    module: str, texts: Mapping[str, bytes], go_work: bytes
) -> tuple[tuple[str, str], ...]:
    """Return the modules that a module of a workspace must `replace`, as path and relative folder.

    Left out are those that its go.mod already replaces. () if the workspace does not use it.

    module  its folder
    texts   go.mod files by path
    """
    beside = {
        used_folder: texts[make_go_mod_path(used_folder)]
        for used_folder in list_module_folders(go_work)
        if make_go_mod_path(used_folder) in texts
    }
    own = beside.pop(module, None)
    if own is None:
        return ()
    stated = {line.split()[0] for line in _list_arguments(own, 'replace')}
    paths = {folder: parse_module_path(text) for folder, text in sorted(beside.items())}
    return tuple(
        (path, _make_relative(folder, module))
        for folder, path in paths.items()
        if path and path not in stated
    )


def _make_relative(folder: str, module: str) -> str:
    inner = posixpath.relpath(folder, module)
    return inner if inner.startswith('..') else f'./{inner}'


def _list_arguments(file: bytes, verb: str) -> Iterator[str]:
    """Yield what follows a verb such as `use` or `replace`, line by line, without comments.

    The verb may stand on the line itself or before a block in brackets. Lines of blocks come first.
    """
    text = _COMMENT.sub('', file.decode(errors='replace'))
    for block in _BLOCK.finditer(text):
        if block[1] == verb:
            yield from (line.strip() for line in block[2].splitlines() if line.strip())
    for line in _BLOCK.sub('', text).splitlines():
        words = line.split(maxsplit=1)  # a blank or a tab separates them
        if len(words) == 2 and words[0] == verb:
            yield words[1].strip()
