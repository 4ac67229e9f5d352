"""Lists the declarations of a Go file, with the files that `//go:embed` compiles in, and matches
executed functions with them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tree_sitter import Node

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.verdicts import ExecutedMethod

_GROUPS = {
    'var_declaration': frozenset({'var_spec'}),
    'const_declaration': frozenset({'const_spec'}),
    'type_declaration': frozenset({'type_spec', 'type_alias'}),
}
_LISTS = frozenset({'var_spec_list'})
_IOTA = re.compile(rb'\biota\b')


@dataclass(frozen=True, slots=True, kw_only=True)
class GoDeclaration:
    """A function, a method, a type, or the variables or constants of one line.

    kind      func, type, var or const
    node      its text: a single line if several lines share a keyword, but all lines of constants
              that count or repeat, since none of these has the same meaning without the others
    inner     the nodes that are read: the lines themselves
    names     the names that it declares
    receiver  the simple name of a method's type
    """

    kind: str
    node: Node
    inner: tuple[Node, ...]
    names: tuple[str, ...]
    receiver: str | None = None

    @property
    def includes_keyword(self) -> bool:
        """True if the text of `node` includes the keyword (`func`, `type`, `var`, `const`).

        False for a line of a group such as `var ( … )`.
        """
        return self.kind == 'func' or self.node.type in _GROUPS


def list_declarations(root: Node, source: bytes) -> Iterator[GoDeclaration]:
    """Yield the top-level declarations of a file in order, without imports.

    Each line of variables or types is one declaration. All lines of a `const` group are one if any
    of them counts (`iota`) or repeats the line above.
    """
    for node in root.children:
        if node.type == 'function_declaration':
            yield GoDeclaration(
                kind='func', node=node, inner=(node,), names=(_parse_name(node, source),)
            )
        elif node.type == 'method_declaration':
            yield GoDeclaration(
                kind='func',
                node=node,
                inner=(node,),
                names=(_parse_name(node, source),),
                receiver=_parse_receiver(node, source),
            )
        elif node.type in _GROUPS:
            yield from _list_group_declarations(node, source)


def _list_group_declarations(node: Node, source: bytes) -> Iterator[GoDeclaration]:
    kind, wanted = node.type.removesuffix('_declaration'), _GROUPS[node.type]
    lines = [child for child in node.children if child.type in wanted]
    for each in node.children:
        if each.type in _LISTS:
            lines += [child for child in each.children if child.type in wanted]
    if not lines:
        return
    if kind == 'const' and _use_iota_or_repeat(lines, source):
        names = tuple(name for line in lines for name in _parse_names(line, source))
        yield GoDeclaration(kind=kind, node=node, inner=tuple(lines), names=names)
        return
    grouped = any(child.type == '(' for child in _list_children_and_list_items(node))
    for line in lines:
        yield GoDeclaration(
            kind=kind,
            node=line if grouped else node,
            inner=(line,),
            names=tuple(_parse_names(line, source)),
        )


def _list_children_and_list_items(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield child
        if child.type in _LISTS:
            yield from child.children


def _use_iota_or_repeat(lines: list[Node], source: bytes) -> bool:
    """Return whether any line has no value, so repeats one above, or contains `iota`.

    See https://go.dev/ref/spec#Iota.
    """
    return any(line.child_by_field_name('value') is None for line in lines) or any(
        _IOTA.search(source, line.start_byte, line.end_byte) for line in lines
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GoConstantLine:
    """A line of constants that count or repeat.

    nodes  the line, and what it repeats of a line above it
    """

    names: tuple[str, ...]
    nodes: tuple[Node, ...]


def list_constant_lines(declaration: GoDeclaration, source: bytes) -> Iterator[GoConstantLine]:
    """Yield the lines of a group of constants, each with what it repeats.

    A line without a value repeats type and value of the last line that has one
    (https://go.dev/ref/spec#Constant_declarations).
    """
    repeated: tuple[Node, ...] = ()
    for line in declaration.inner:
        value = line.child_by_field_name('value')
        if value is not None:
            type_ = line.child_by_field_name('type')
            repeated = (value,) if type_ is None else (type_, value)
        yield GoConstantLine(
            names=tuple(_parse_names(line, source)),
            nodes=(line,) if value is not None else (line, *repeated),
        )


def _parse_name(node: Node, source: bytes) -> str:
    return _read_text(node.child_by_field_name('name'), source)


def _parse_names(line: Node, source: bytes) -> Iterator[str]:
    for child in line.children_by_field_name('name'):
        if child.is_named:
            yield _read_text(child, source)


def _parse_receiver(node: Node, source: bytes) -> str:
    """Return the simple name of a method's type: `T` for `(t *T)` and `(t T[K, V])`.

    '' if there is no receiver.
    """
    receiver = node.child_by_field_name('receiver')
    queue = [] if receiver is None else [*receiver.named_children]
    while queue:
        current = queue.pop(0)
        if current.type == 'type_identifier':
            return _read_text(current, source)
        inner = current.child_by_field_name('type')
        queue[:0] = [inner] if inner is not None else current.named_children
    return ''


def _read_text(node: Node | None, source: bytes) -> str:
    if node is None:
        return ''
    return source[node.start_byte : node.end_byte].decode(errors='replace')


# Finds which files `//go:embed` directives compile into a package.
#
# The rules are those of https://pkg.go.dev/embed#hdr-Directives and, for patterns,
# https://pkg.go.dev/path#Match.

MARK = b'//go:embed'

_DIRECTIVE = MARK.decode() + ' '
_PATTERN = re.compile(r'"((?:[^"\\]|\\.)*)"|`([^`]*)`|(\S+)')
_ALL = 'all:'
_HIDDEN = ('.', '_')


def list_embed_patterns(tokens: Iterable[str]) -> Iterator[str]:
    """Yield the patterns of all `//go:embed` directives among tokens, without quotes.

    tokens  the texts of the tokens of a declaration
    """
    for token in tokens:
        if token.startswith(_DIRECTIVE):
            for quoted, raw, bare in _PATTERN.findall(token.removeprefix(_DIRECTIVE)):
                yield quoted or raw or bare


def is_embedded(pattern: str, relative: str) -> bool:
    """Return whether a pattern of `//go:embed` embeds a file: matches it or a folder above it.

    Below an embedded folder, names that begin with `.` or `_` are left out, unless the pattern
    begins with `all:`.

    relative  the path of the file below the folder of the package
    """
    takes_hidden = pattern.startswith(_ALL)
    wanted = pattern.removeprefix(_ALL).split('/')
    parts = relative.split('/')
    head, below = parts[: len(wanted)], parts[len(wanted) :]
    if len(head) < len(wanted) or not all(map(_matches, head, wanted)):
        return False
    return takes_hidden or not any(part.startswith(_HIDDEN) for part in below)


def _matches(part: str, pattern: str) -> bool:
    return fnmatchcase(part, pattern.replace('[^', '[!'))


def is_part_of(executed_method: ExecutedMethod, member: Member | None, type_: DeclaredType) -> bool:
    """Return whether an executed function is `member` itself or lies within it.

    Lines decide; without lines the name does: `F`, `(T).M` or `(*T).M`. If `member` is None, return
    whether what `type_` has beside functions counts as executed: for a package always, for a type
    if the function is one of its methods. The caller must have matched the file.
    """
    if member is not None:
        return _is_same_member(executed_method, member, type_)
    if not type_.around:
        return True
    return any(_is_same_member(executed_method, each, type_) for each in type_.members)


def _is_same_member(one: ExecutedMethod, member: Member, type_: DeclaredType) -> bool:
    if one.first_line:
        return member.start_line <= one.first_line and one.last_line <= member.end_line
    return one.method in _list_go_names(member, type_)


def _list_go_names(member: Member, type_: DeclaredType) -> tuple[str, ...]:
    if not type_.around:
        return (member.name,)
    return f'({type_.simple}).{member.name}', f'(*{type_.simple}).{member.name}'
