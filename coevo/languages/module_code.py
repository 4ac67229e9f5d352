"""Read a Python module: a hash of each definition and the names in it, without a syntax tree.

Comments, docstrings, annotations of functions and the names of local variables do not count.
"""

from __future__ import annotations

import ast
import hashlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

_SUFFIXES = ('.c', '.go', '.java')
_TOKEN = re.compile(
    rb'"""(?:\\.|[^\\])*?"""'
    rb'|"(?:\\.|[^"\\\n])*"'
    rb"|'(?:\\.|[^'\\\n])*'"
    rb'|`[^`]*`'
    rb'|//go:[^\n]*'  # a directive
    rb'|(?P<comment>//[^\n]*|/\*.*?\*/)',
    re.DOTALL,
)


def strip_comments(file_name: str, text: bytes) -> bytes:
    """Return the text of a C, Go or Java program without comments, and with less white space.

    Each comment becomes a blank. Each run of white space outside literals becomes one character: a
    newline if it contains one, else a blank. Directives (`//go:`) stay. Files of other kinds, by
    their names, are returned unchanged.
    """
    if not file_name.endswith(_SUFFIXES):
        return text
    pieces: list[bytes] = []
    code = b''
    end = 0
    for token in _TOKEN.finditer(text):
        code += text[end : token.start()]
        if token['comment'] is None:
            pieces += [_squeeze_white_space(code), token[0]]
            code = b''
        else:
            code += b' '
        end = token.end()
    return b''.join([*pieces, _squeeze_white_space(code + text[end:])])


def _squeeze_white_space(code: bytes) -> bytes:
    return re.sub(rb'\s+', lambda run: b'\n' if b'\n' in run[0] else b' ', code)


DIGITS = 12
"""Those of a hash that are kept."""

_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign

# CPython 3.11 ends in a SystemError ("AST constructor recursion depth mismatch") if two threads
# build a tree at once.
_PARSING = threading.Lock()


def parse_python(source: bytes | str) -> ast.Module:
    """Parse Python source, in one thread at a time.

    Raises: SyntaxError or ValueError if it does not parse.
    """
    with _PARSING:
        return ast.parse(source)


@dataclass(slots=True, kw_only=True)
class _Statements:
    """The statements of a module, by what they do.

    imports  for each imported name, the module it stands for, and a name in that module or None
    effects  statements that run on import and define no name
    """

    definitions: dict[str, list[_Definition]] = field(default_factory=dict)
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    effects: list[ast.stmt] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """The hash of some statements, and what they mention outside of annotations.

    attributes  each attribute, after the name before its dot or None
    names       all other names
    texts       texts that may be the full names of modules
    imports     modules and names in them that are imported inside a function
    """

    digest: str
    attributes: frozenset[tuple[str | None, str]]
    names: frozenset[str]
    texts: frozenset[str]
    imports: frozenset[tuple[str, str | None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModuleCode:
    """A module of which no syntax tree is kept; see `_Statements`."""

    definitions: Mapping[str, Code]
    imports: Mapping[str, tuple[str, str | None]]
    effects: Code | None


# The searches of a process, one for each language and purpose, read the same modules.
@cache
def read_module(source: bytes) -> ModuleCode:
    """Read the source of a module, once in a process."""
    statements = _Statements()
    _classify_statements(statements, parse_python(source).body)
    return ModuleCode(
        definitions={
            name: _summarise_statements(each) for name, each in statements.definitions.items()
        },
        imports=statements.imports,
        effects=_summarise_statements(statements.effects) if statements.effects else None,
    )


def _summarise_statements(statements: Sequence[ast.stmt]) -> Code:
    attributes: set[tuple[str | None, str]] = set()
    names: set[str] = set()
    texts: set[str] = set()
    imports: set[tuple[str, str | None]] = set()
    before_dots: set[int] = set()
    for node in (node for statement in statements for node in _walk_without_annotations(statement)):
        match node:
            case ast.Attribute(value=ast.Name(id=name) as value):
                attributes.add((name, node.attr))
                before_dots.add(id(value))
            case ast.Attribute():
                attributes.add((None, node.attr))
            case ast.Name() if id(node) not in before_dots:
                names.add(node.id)
            case ast.Constant(value=str(text)) if _may_be_module_name(text):
                texts.add(text)
            case ast.ImportFrom() | ast.Import():
                imports.update(_list_imports(node).values())
    return Code(
        digest=_hash_statements(statements),
        attributes=frozenset(attributes),
        names=frozenset(names),
        texts=frozenset(texts),
        imports=frozenset(imports),
    )


def _may_be_module_name(text: str) -> bool:
    parts = text.split('.')
    return len(parts) > 1 and all(part.isidentifier() for part in parts)


def _classify_statements(module: _Statements, statements: Sequence[ast.stmt]) -> None:
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
                _classify_statements(module, statement.body)
                _classify_statements(module, statement.orelse)
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


@cache
def hash_file(name: str, source: bytes) -> str:
    """Return a hash of a whole file, without its comments."""
    if name.endswith('.py'):
        return _hash_statements(parse_python(source).body)
    return hashlib.sha256(strip_comments(name, source)).hexdigest()[:DIGITS]


def _walk_without_annotations(node: ast.AST) -> Iterator[ast.AST]:
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
        _append_tree_text(parts, statement, {}, in_class=False)
        texts.append(''.join(parts))
    return hashlib.sha256('\0'.join(texts).encode('utf-8', 'surrogatepass')).hexdigest()[:DIGITS]


_UNWRITTEN = frozenset(('returns', 'type_comment', 'kind', 'ctx', 'type_params'))


def _append_tree_text(
    parts: list[str], node: object, names: Mapping[str, str], *, in_class: bool
) -> None:
    """Add a syntax tree to `parts`, as text that is the same in all versions of Python.

    Left out are docstrings and annotations, except those of the fields of classes. Local names of
    functions are numbered.

    names     replacements for local names
    in_class  whether the node is part of the body of a class, where annotations count
    """
    if isinstance(node, list):
        for number, child in enumerate(node):
            if number or not _is_string_statement(child):  # a docstring
                _append_tree_text(parts, child, names, in_class=in_class)
                parts.append(',')
        return
    if not isinstance(node, ast.AST):
        parts.append(repr(node))
        return
    if _is_string_statement(node):
        return
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) and not names:
        names = _number_local_names(node)
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
            _append_tree_text(parts, value, names, in_class=in_class)
        parts.append(';')
    parts.append(')')


def _is_string_statement(node: object) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _number_local_names(function: ast.AST) -> dict[str, str]:
    """Return a numbered replacement for each local name that a function binds, in textual order.

    Parameters and names that are declared global or nonlocal get none.
    """
    excluded: set[str] = set()
    bound: dict[str, None] = {}
    positions: dict[str, tuple[int, int]] = {}  # the first one of each name
    for node in ast.walk(function):
        if isinstance(node, ast.arg):
            excluded.add(node.arg)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            excluded.update(node.names)
        elif isinstance(node, ast.Name) or (isinstance(node, ast.ExceptHandler) and node.name):
            name = node.id if isinstance(node, ast.Name) else str(node.name)
            position = (node.lineno, node.col_offset)
            positions[name] = min(position, positions.get(name, position))
            if isinstance(node, ast.ExceptHandler) or isinstance(node.ctx, ast.Store):
                bound.setdefault(name)
    in_order = sorted((name for name in bound if name not in excluded), key=positions.__getitem__)
    return {name: f'local {number}' for number, name in enumerate(in_order)}


def _write_annotation(annotation: ast.AST) -> str:
    """Write the annotation of a field, which decides its column, without explanatory texts."""
    return ' '.join(
        str(getattr(node, 'id', getattr(node, 'attr', getattr(node, 'value', ''))))
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name | ast.Attribute)
        or (isinstance(node, ast.Constant) and not isinstance(node.value, str))
    )
