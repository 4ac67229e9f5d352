"""Digests of the code on which a result depends.

If that code changes, the result must be made again.

A digest covers each module-level definition that some roots reach by name, and the files that a
language runs inside the sandbox. Comments, docstrings, annotations of functions and the names of
local variables do not count. Example: `filters.filter_candidates` calls a new filter, and mining
reaches `filter_candidates`, so the digest of mining changes; a reworded docstring changes nothing.

If reached code contains the full name of a module as a text, the whole module counts, since `python
-m` may run it. If reached code uses `__file__` of a package, all files of the package count.
Definitions that are reached only by a name in a text (`getattr(module, 'x')`) are missed.
"""

from __future__ import annotations

import ast
import hashlib
import json
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from coevo.languages.source_texts import strip_comments
from coevo.storage.durable import write_durably
from coevo.storage.folders import find_cache_folder

PACKAGES = ('coevo', 'filters', 'flows', 'miners', 'packagers')
"""The packages of the product. Other imports do not count."""

_HOME = Path(__file__).parents[2]
_DIGITS = 12
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeDigest:
    """A digest of all reached code, and in `parts` one for each module and file of that code.

    The parts are by the name of the module or the path of the file. The digest of a module covers
    only its reached definitions.
    """

    digest: str
    parts: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeRoots:
    """The starting points of the search for reached code.

    names     definitions such as `flows.mining:mine_pair`
    language  a module whose definitions count if reached code mentions their names as attributes;
              all files beside it that are not Python count, too; None for no language
    members   further attributes that count as mentioned
    left_out  packages that the search does not enter: those of other languages
    """

    names: tuple[str, ...]
    language: str | None = None
    members: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def compare_parts(old: Mapping[str, str], new: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names whose parts differ between two digests, or that only one has, sorted."""
    return tuple(sorted(name for name in {*old, *new} if old.get(name) != new.get(name)))


# CPython 3.11 ends in a SystemError ("AST constructor recursion depth mismatch") if two threads
# build a tree at once.
_PARSING = threading.Lock()


def parse_python(source: bytes | str) -> ast.Module:
    """Parse Python source, in one thread at a time.

    Raises: SyntaxError or ValueError if it does not parse.
    """
    with _PARSING:
        return ast.parse(source)


@cache
def compute_code_digest(roots: CodeRoots) -> CodeDigest:
    """Return the digest of the installed code that some roots reach.

    The result is cached in this process, and in a file of the cache folder until a file of the
    product changes.
    """
    folders = {package: _HOME / package for package in PACKAGES}
    for name in (*roots.names, roots.language or ''):
        package = name.partition(':')[0].partition('.')[0]
        if package:
            folders.setdefault(package, _HOME / package)
    key = hashlib.sha256(repr(roots).encode() + _hash_files(tuple(folders.values())))
    kept = find_cache_folder() / 'code_digests' / f'{key.hexdigest()}.json'
    try:
        parts = json.loads(kept.read_bytes())
    except (OSError, ValueError):
        parts = digest_reached_code(folders, roots)
        with suppress(OSError):  # a cache that cannot be written costs seconds
            write_durably(kept, [json.dumps(parts, sort_keys=True).encode()])
    return CodeDigest(digest=_combine(parts), parts=parts)


@cache
def _hash_files(folders: Sequence[Path]) -> bytes:
    """Return a hash of the paths and contents of all files of some folders, read once a process."""
    digest = hashlib.sha256()
    for path in _list_files(folders):
        digest.update(f'{path.relative_to(_HOME)}\0'.encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.digest()


def digest_reached_code(folders: Mapping[str, Path], roots: CodeRoots) -> dict[str, str]:
    """Return the digest of the reached part of each module and file, by the name of either.

    folders  the folder of each package, by its name
    """
    search = _Search(folders=folders, roots=roots)
    search.run()
    parts = {name: _combine(hashes) for name, hashes in search.collect_hashes().items()}
    for path in sorted(search.files):
        parts[search.name_file(path)] = _hash_file(path)
    return parts


def _hash_file(path: Path) -> str:
    source = path.read_bytes()
    if path.suffix == '.py':
        return _hash_statements(parse_python(source).body)
    return hashlib.sha256(strip_comments(path.name, source)).hexdigest()[:_DIGITS]


def _combine(parts: Mapping[str, str]) -> str:
    text = '\0'.join(f'{name}\0{digest}' for name, digest in sorted(parts.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def _list_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob('*')):
            if path.suffix != '.pyc' and 'node_modules' not in path.parts and path.is_file():
                yield path


@dataclass(slots=True, kw_only=True)
class _Module:
    """A parsed module.

    imports  for each imported name, the module it stands for, and a name in that module or None
    effects  statements that run on import and define no name
    """

    definitions: dict[str, list[_Definition]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)


def _parse_module(source: bytes) -> _Module:
    module = _Module()
    _sort_statements(module, parse_python(source).body)
    return module


def _sort_statements(module: _Module, statements: Sequence[ast.stmt]) -> None:
    for statement in statements:
        match statement:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                module.definitions.setdefault(statement.name, []).append(statement)
            case ast.Import() | ast.ImportFrom():
                module.imports.update(_list_imports(statement))
            case ast.Assign() | ast.AnnAssign() if names := _list_targets(statement):
                for name in names:
                    module.definitions.setdefault(name, []).append(statement)
            case ast.If():
                _sort_statements(module, statement.body)
                _sort_statements(module, statement.orelse)
            case ast.Expr(value=ast.Constant()):
                pass  # a docstring
            case _:
                module.effects.append(statement)


def _list_imports(statement: ast.Import | ast.ImportFrom) -> dict[str, tuple[str, str | None]]:
    if isinstance(statement, ast.Import):
        return {
            alias.asname or alias.name.partition('.')[0]: (
                alias.name if alias.asname else alias.name.partition('.')[0],
                None,
            )
            for alias in statement.names
        }
    source = statement.module or ''
    return {alias.asname or alias.name: (source, alias.name) for alias in statement.names}


def _list_targets(statement: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return [
        node.id
        for target in targets
        for node in ast.walk(target)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search for the definitions that the roots reach by name, directly or not.

    reached     module and name of each reached definition
    waiting     reached definitions whose own references are still to be followed
    begun       modules of which anything was reached, with their statements that run on import
    files       further files that count as a whole
    attributes  every name that reached code mentions as an attribute
    """

    folders: Mapping[str, Path]
    roots: CodeRoots
    reached: set[tuple[str, str]] = field(default_factory=set)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    begun: dict[str, list[ast.stmt]] = field(default_factory=dict)
    files: set[Path] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)
    modules: dict[str, _Module | None] = field(default_factory=dict)

    def run(self) -> None:
        """Follow all references from the roots."""
        for root in self.roots.names:
            module, _, name = root.partition(':')
            self._reach(module, name)
        self._follow_waiting()
        if self.roots.language is None:
            return
        self.attributes.update(self.roots.members)
        beside = _list_files([self._get_path(self.roots.language).parent])
        self.files.update(file for file in beside if file.suffix != '.py')
        while self._reach_language():
            self._follow_waiting()

    def collect_hashes(self) -> dict[str, dict[str, str]]:
        """Return the hashes of the reached definitions of each module, by their names."""
        hashes: dict[str, dict[str, str]] = {name: {} for name in self.begun}
        for name, effects in self.begun.items():
            if effects:
                hashes[name][''] = _hash_statements(effects)
        for name, definition in self.reached:
            module = self._load(name)
            assert module is not None, 'only definitions of modules are reached'
            hashes[name][definition] = _hash_statements(module.definitions[definition])
        return hashes

    def name_file(self, path: Path) -> str:
        """Return the path of a file, beginning with the name of its package."""
        folder = next(folder for folder in self.folders.values() if path.is_relative_to(folder))
        return path.relative_to(folder.parent).as_posix()

    def _reach_language(self) -> bool:
        """Reach the definitions of the language's module that reached code mentions.

        Returns whether that reached anything new.
        """
        assert self.roots.language is not None
        module = self._load(self.roots.language)
        assert module is not None, f'{self.roots.language} is no module'
        before = len(self.reached)
        for name in (*module.definitions, *module.imports):
            if name in self.attributes:
                self._reach(self.roots.language, name)
        return len(self.reached) > before or bool(self.waiting)

    def _follow_waiting(self) -> None:
        while self.waiting:
            name, definition = self.waiting.pop()
            module = self._load(name)
            assert module is not None, 'only definitions of modules wait'
            for statement in module.definitions[definition]:
                self._follow(name, statement)

    def _follow(self, name: str, statement: ast.stmt) -> None:
        module = self._load(name)
        assert module is not None, 'a statement lies in a module'
        aliased: set[int] = set()
        nodes = list(_walk_code(statement))
        for node in nodes:
            if isinstance(node, ast.Attribute):
                self.attributes.add(node.attr)
                target = self._resolve_module(module, node.value)
                if target is not None:
                    aliased.add(id(node.value))
                    self._reach(target, node.attr)
                    if node.attr == '__file__':
                        self._add_files(target)
            elif isinstance(node, ast.Constant) and self._is_module_name(node.value):
                self._reach_module(str(node.value))  # as `python -m` runs it
            elif isinstance(node, ast.ImportFrom | ast.Import):
                for source, imported in _list_imports(node).values():
                    self._reach_import(source, imported)
        for node in nodes:
            if isinstance(node, ast.Name) and id(node) not in aliased:
                self._reach(name, node.id)

    def _is_module_name(self, value: object) -> bool:
        """Return whether a value is the full dotted name of a module of the product, as a text."""
        return (
            isinstance(value, str)
            and value.partition('.')[0] in self.folders
            and len(value.split('.')) > 1
            and all(part.isidentifier() for part in value.split('.'))
            and self._load(value) is not None
        )

    def _resolve_module(self, module: _Module, value: ast.expr) -> str | None:
        """Return the name of the module of the product that an expression stands for.

        None if the expression is not the name of an imported module of the product.
        """
        if not isinstance(value, ast.Name) or value.id not in module.imports:
            return None
        source, imported = module.imports[value.id]
        target = source if imported is None else f'{source}.{imported}'
        return target if self._load(target) is not None else None

    def _reach(self, name: str, definition: str) -> None:
        module = self._load(name)
        if module is None:
            return
        if name not in self.begun:
            self.begun[name] = module.effects
            for statement in module.effects:
                self._follow(name, statement)
        if definition in module.definitions:
            if (name, definition) not in self.reached:
                self.reached.add((name, definition))
                self.waiting.append((name, definition))
        elif definition in module.imports:
            self._reach_import(*module.imports[definition])
        elif self._load(f'{name}.{definition}') is not None:
            self._reach_module(f'{name}.{definition}')

    def _reach_import(self, source: str, imported: str | None) -> None:
        if imported is None:
            return  # the attributes used with it are followed instead
        target = f'{source}.{imported}'
        module = self._load(source)
        if self._load(target) is not None and (
            module is None or imported not in module.definitions
        ):
            self._reach_module(target)
        else:
            self._reach(source, imported)

    def _reach_module(self, name: str) -> None:
        """Reach all definitions of a module that is used as a value.

        The module of the language is an exception: `_reach_language` selects from it.
        """
        if name == self.roots.language:
            return
        module = self._load(name)
        assert module is not None, 'who asks has seen it'
        for definition in (*module.definitions, *module.imports):
            self._reach(name, definition)

    def _add_files(self, name: str) -> None:
        """Add the file of a module or, for a package, all files of its folder."""
        path = self._get_path(name)
        self.files.update(_list_files([path.parent]) if path.name == '__init__.py' else [path])

    def _get_path(self, name: str) -> Path:
        path = self._locate(name)
        assert path is not None, f'{name} is no module'
        return path

    def _load(self, name: str) -> _Module | None:
        """Parse a module of the product, once; None for another module or one that is left out."""
        if name not in self.modules:
            path = None if self._is_left_out(name) else self._locate(name)
            self.modules[name] = None if path is None else _parse_module(path.read_bytes())
        return self.modules[name]

    def _is_left_out(self, name: str) -> bool:
        return any(f'{name}.'.startswith(f'{package}.') for package in self.roots.left_out)

    def _locate(self, name: str) -> Path | None:
        package, *inner = name.split('.')
        if package not in self.folders:
            return None
        path = self.folders[package].joinpath(*inner)
        for file in (path / '__init__.py', path.with_name(f'{path.name}.py')):
            if file.is_file():
                return file
        return None


def _walk_code(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a syntax tree, except those of annotations."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        for name in node._fields:
            if name in ('annotation', 'returns'):
                continue
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                waiting.append(value)
            elif isinstance(value, list):
                waiting += [child for child in value if isinstance(child, ast.AST)]


def _hash_statements(statements: Sequence[ast.stmt]) -> str:
    texts = []
    for statement in statements:
        parts: list[str] = []
        _write(parts, statement, {}, in_class=False)
        texts.append(''.join(parts))
    return hashlib.sha256('\0'.join(texts).encode('utf-8', 'surrogatepass')).hexdigest()[:_DIGITS]


_UNWRITTEN = frozenset(('returns', 'type_comment', 'kind', 'ctx', 'type_params'))


def _write(parts: list[str], node: object, names: Mapping[str, str], *, in_class: bool) -> None:
    """Add a syntax tree to `parts`, as text that is the same in all versions of Python.

    Left out are docstrings and annotations, except those of the fields of classes. Local names of
    functions are numbered.

    names     replacements for local names
    in_class  whether the node is part of the body of a class, where annotations count
    """
    if isinstance(node, list):
        for number, child in enumerate(node):
            if number or not _is_text(child):  # a docstring
                _write(parts, child, names, in_class=in_class)
                parts.append(',')
        return
    if not isinstance(node, ast.AST):
        parts.append(repr(node))
        return
    if _is_text(node):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not names:
        names = _rename_locals(node)
    in_class = isinstance(node, ast.ClassDef) or (in_class and isinstance(node, ast.AnnAssign))
    parts.append(f'{type(node).__name__}(')
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in _UNWRITTEN:
            continue
        if name == 'annotation':
            parts.append(_write_annotation(value) if in_class else '')
            continue
        parts.append(f'{name}=')
        if name in ('id', 'name') and isinstance(value, str) and not isinstance(node, ast.alias):
            parts.append(repr(names.get(value, value)))
        else:
            _write(parts, value, names, in_class=in_class)
        parts.append(';')
    parts.append(')')


def _is_text(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _rename_locals(function: ast.AST) -> dict[str, str]:
    """Return a numbered replacement for each local name that a function binds, in textual order.

    Parameters and names that are declared global or nonlocal get none.
    """
    kept: set[str] = set()
    bound: dict[str, None] = {}
    places: dict[str, tuple[int, int]] = {}  # the first one of each name
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            kept.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            kept.update(node.names)
        elif isinstance(node, ast.Name) or (isinstance(node, ast.ExceptHandler) and node.name):
            name = node.id if isinstance(node, ast.Name) else str(node.name)
            place = (node.lineno, node.col_offset)
            places[name] = min(place, places.get(name, place))
            if isinstance(node, ast.ExceptHandler) or isinstance(node.ctx, ast.Store):
                bound.setdefault(name)
    in_order = sorted((name for name in bound if name not in kept), key=places.__getitem__)
    return {name: f'local {number}' for number, name in enumerate(in_order)}


def _write_annotation(annotation: ast.AST) -> str:
    """Write the annotation of a field, which decides its column, without explanatory texts."""
    return ' '.join(
        str(getattr(node, 'id', getattr(node, 'attr', getattr(node, 'value', ''))))
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name | ast.Attribute)
        or (isinstance(node, ast.Constant) and not isinstance(node.value, str))
    )


def select_packages(modules: Collection[str], chosen: str) -> tuple[str, ...]:
    """Return the packages in which all modules but the chosen one lie, sorted.

    Example: `coevo.languages.java.language` lies in `coevo.languages.java`.
    """
    return tuple(sorted(name.rpartition('.')[0] or name for name in modules if name != chosen))
