"""Let a function return plain values of its type, or a variable hold one, in place of what it does.

The type is that of the annotation or else of what the body returns. Where it is unknown, several
values stand for it.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.declarations import MODULE, Member, SourceFile
from coevo.languages.measures import (
    MOST_PLAIN,
    LocatedDeclaration,
    Parameter,
    PlainVersion,
    map_lost_parameters,
)
from coevo.languages.python.reading.statements import is_text_statement
from coevo.languages.python.surgery.cuts import find_multiline_strings, reindent
from coevo.languages.python.surgery.pieces import make_outline
from coevo.languages.text_edits import find_indentation, replace_span

_UNKNOWN = ("''", '0')
_VALUES = {
    'bool': ('False', 'True'),
    'bytes': ("b''", "b'?'"),
    'dict': ('{}',),
    'float': ('0.0', '1.0'),
    'frozenset': ('frozenset()',),
    'int': ('0', '1'),
    'iter': ('iter(())',),
    'list': ('[]',),
    'none': ('None',),
    'set': ('set()',),
    'str': ("''", "'?'"),
    'tuple': ('()',),
}
_ANNOTATIONS = {
    **{name: name for name in _VALUES},
    'Iterable': 'list',
    'Iterator': 'iter',
    'List': 'list',
    'Sequence': 'list',
    'Dict': 'dict',
    'Mapping': 'dict',
    'Set': 'set',
    'Tuple': 'tuple',
    'None': 'none',
}
_LITERALS = {
    'comparison_operator': 'bool',
    'concatenated_string': 'str',
    'dictionary': 'dict',
    'dictionary_comprehension': 'dict',
    'expression_list': 'tuple',
    'false': 'bool',
    'float': 'float',
    'generator_expression': 'iter',
    'integer': 'int',
    'list': 'list',
    'list_comprehension': 'list',
    'none': 'none',
    'not_operator': 'bool',
    'set': 'set',
    'set_comprehension': 'set',
    'string': 'str',
    'true': 'bool',
    'tuple': 'tuple',
}
_CALLS = {
    **{name: name for name in ('bool', 'bytes', 'dict', 'float', 'int', 'list', 'set', 'str')},
    **dict.fromkeys(('all', 'any', 'isinstance', 'endswith', 'startswith'), 'bool'),
    **dict.fromkeys(('count', 'len', 'round', 'sum'), 'int'),
    **dict.fromkeys(('format', 'join', 'lower', 'repr', 'replace', 'strip', 'upper'), 'str'),
    **dict.fromkeys(('sorted', 'split', 'splitlines'), 'list'),
    'tuple': 'tuple',
}
_SPECIAL = {
    **dict.fromkeys(('__bool__', '__contains__', '__eq__', '__ge__', '__gt__'), 'bool'),
    **dict.fromkeys(('__le__', '__lt__', '__ne__'), 'bool'),
    **dict.fromkeys(('__hash__', '__index__', '__int__', '__len__'), 'int'),
    **dict.fromkeys(('__format__', '__repr__', '__str__'), 'str'),
    '__iter__': 'iter',
    '__enter__': 'self',
}
_NONE = ('None', 'NoReturn', 'Never')
_INNER = ('function_definition', 'class_definition', 'lambda')
_MANAGERS = frozenset({'contextmanager', 'asynccontextmanager', 'fixture'})


def list_versions_with_plain_values(new: LocatedDeclaration) -> tuple[PlainVersion, ...]:
    """Return the file with a function that returns plain values, or with a variable that holds one.

    A constructor sets its attributes to None. Empty for a variable whose value is no literal, and
    for `__new__`.
    """
    assert new.member is not None
    if new.member.kind == 'field':
        return tuple(_list_field_versions(new))
    definition = find_definition(new)
    body = definition.child_by_field_name('body')
    if body is None or new.member.name == '__new__':
        return ()
    margin = find_indentation(new.source, definition.start_byte) + b'    '
    docstring = _find_docstring(body)
    above = [] if docstring is None else [get_text(docstring)]
    return tuple(
        PlainVersion(
            written=f': {"; ".join(lines)}',
            source=replace_body(
                new.source, body, b''.join(b'\n' + margin + line.encode() for line in above + lines)
            ),
        )
        for lines in _list_plain_bodies(new, definition, body)[:MOST_PLAIN]
    )


def find_definition(declared: LocatedDeclaration) -> Node:
    """Return the node of a function, without its decorators."""
    definition = _find_inner(declared, 'function_definition')
    assert definition is not None, 'a function of this very source'
    return definition


def _find_inner(declared: LocatedDeclaration, kind: str) -> Node | None:
    """Return the outermost node of a kind in a member that begins in it; None if there is none."""
    member = declared.member
    assert member is not None
    span = member.start_byte, member.end_byte
    node = make_outline(declared.source).root.descendant_for_byte_range(*span)
    waiting = [] if node is None else [node]
    while waiting:
        here = waiting.pop(0)
        if here.type == kind:
            return here
        waiting += here.named_children
    return None


def get_text(node: Node | None) -> str:
    """Return the source text of a node; '' for None."""
    return '' if node is None or node.text is None else node.text.decode(errors='replace')


def replace_body(source: bytes, body: Node, text: bytes) -> bytes:
    """Return a file with another body of a function; its text begins with a line break."""
    start = len(source[: body.start_byte].rstrip())
    return replace_span(source, start, body.end_byte, text)


def list_parameters(definition: Node) -> tuple[Parameter, ...]:
    """Return the parameters of a function in order, `*args` and `**kwargs` with their stars."""
    holder = definition.child_by_field_name('parameters')
    nodes = holder.named_children if holder is not None else []
    return tuple(parameter for node in nodes if (parameter := _make_parameter(node)) is not None)


def _make_parameter(node: Node) -> Parameter | None:
    name = node.child_by_field_name('name')
    if name is None:
        name = node if node.type in ('identifier', 'list_splat_pattern') else None
    if name is None and node.type in ('typed_parameter', 'dictionary_splat_pattern'):
        name = node.named_children[0] if node.type == 'typed_parameter' else node
    if name is None:
        return None  # a separator or a comment
    value = node.child_by_field_name('value')
    return Parameter(
        name=get_text(name),
        type=get_text(node.child_by_field_name('type')),
        default=None if value is None else get_text(value),
    )


# -- functions -------------------------------------------------------------------------------------


def _list_plain_bodies(new: LocatedDeclaration, definition: Node, body: Node) -> list[list[str]]:
    """Return the statements of each plain body."""
    assert new.member is not None
    if new.member.kind == 'constructor':
        return [_make_plain_constructor_body(body)]
    if any(node.type == 'yield' for node in walk_own_nodes(body)):
        is_managed = not _MANAGERS.isdisjoint(new.member.annotations)
        return [['yield None'] if is_managed else ['if False: yield']]
    given = list_parameters(definition)
    is_bound = new.type.kind != MODULE and 'static' not in new.member.modifiers
    own, given = (given[:1], given[1:]) if is_bound else ((), given)
    kind = _find_return_kind(new, definition, body)
    values = list(_VALUES.get(kind, _UNKNOWN))
    if kind == 'self' and own:
        values = [own[0].name]
    elif kind != 'none':
        values[1:1] = _list_parameters_of_kind(given, kind)[:1]
    return [[f'return {value}'] for value in values]


def _list_parameters_of_kind(given: tuple[Parameter, ...], kind: str) -> list[str]:
    """Return the parameters that may be of a kind."""
    return [
        parameter.name
        for parameter in given
        if not parameter.name.startswith('*')
        and (not parameter.type or _name_kind(parameter.type) == kind)
    ]


def _find_return_kind(new: LocatedDeclaration, definition: Node, body: Node) -> str:
    """Return the kind of what a function returns; '' if that is unknown."""
    assert new.member is not None
    annotation = get_text(definition.child_by_field_name('return_type'))
    if new.member.name in _SPECIAL:
        return _SPECIAL[new.member.name]
    if annotation and _name_kind(annotation):
        return _name_kind(annotation)
    if annotation.strip('"\'') in ('Self', new.type.simple):
        return 'self'
    values = [
        node.named_children[0] if node.named_children else None
        for node in walk_own_nodes(body)
        if node.type == 'return_statement'
    ]
    kinds = {_find_kind(value, body) for value in values if value is not None} or {'none'}
    known = kinds - {'none'} or kinds
    return known.pop() if len(known) == 1 else ''


def _name_kind(annotation: str) -> str:
    """Return the kind that an annotation names; '' if it is no plain one."""
    parts = [part.strip() for part in annotation.strip('"\'').split('|')]
    plain = [part for part in parts if part not in _NONE] or parts
    name = plain[0].removeprefix('typing.').removeprefix('t.')
    if name.startswith('Optional['):
        return _name_kind(name.removeprefix('Optional[').removesuffix(']'))
    return _ANNOTATIONS.get(name.partition('[')[0], '') if len(plain) == 1 else ''


def _find_kind(value: Node, body: Node | None) -> str:
    """Return the kind of an expression; '' if that is unknown.

    body  the function around it, where a name is looked up; None outside of functions
    """
    if value.type == 'call':
        function = value.child_by_field_name('function')
        name = get_text(function).rpartition('.')[2]
        return _CALLS.get(name, '')
    if value.type == 'parenthesized_expression' and value.named_children:
        return _find_kind(value.named_children[0], body)
    if value.type == 'binary_operator':
        sides = (value.child_by_field_name(side) for side in ('left', 'right'))
        kinds = [_find_kind(side, body) for side in sides if side is not None]
        return kinds[0] if kinds[0] == 'str' or len(set(kinds)) == 1 else ''
    if value.type == 'identifier' and body is not None:
        return _find_kind_of_name(get_text(value), body)
    return _LITERALS.get(value.type, '')


def _find_kind_of_name(name: str, body: Node) -> str:
    if name == 'self':
        return 'self'
    for node in walk_own_nodes(body):
        if node.type == 'assignment' and get_text(node.child_by_field_name('left')) == name:
            value = node.child_by_field_name('right')
            return '' if value is None else _find_kind(value, None)
    return ''


def _make_plain_constructor_body(body: Node) -> list[str]:
    """Return the statements of a constructor that sets its attributes to None, and calls its base."""
    calls = [
        get_text(node)
        for node in body.named_children
        if node.type == 'expression_statement' and '__init__(' in get_text(node)
    ]
    names = [
        get_text(left)
        for node in walk_own_nodes(body)
        if node.type == 'assignment' and (left := node.child_by_field_name('left')) is not None
    ]
    own = dict.fromkeys(
        name for name in names if name.startswith('self.') and name[5:].isidentifier()
    )
    return [*calls, *(f'{name} = None' for name in own)] or ['pass']


def _find_docstring(body: Node) -> Node | None:
    first = next(iter(body.named_children), None)
    return first if first is not None and is_text_statement(first) else None


def walk_own_nodes(body: Node) -> Iterator[Node]:
    """Yield the nodes of a function in order, without those of functions and classes in it."""
    waiting = [body]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += [child for child in node.named_children[::-1] if child.type not in _INNER]


# -- variables -------------------------------------------------------------------------------------


def _list_field_versions(new: LocatedDeclaration) -> Iterator[PlainVersion]:
    assert new.member is not None
    assignment = _find_inner(new, 'assignment')
    value = None if assignment is None else assignment.child_by_field_name('right')
    if value is None or value.type == 'assignment':
        return
    for text in _VALUES.get(_find_kind(value, None), ()):
        source = replace_span(new.source, value.start_byte, value.end_byte, text.encode())
        yield PlainVersion(written=f' = {text}', source=source)


_CALLABLES = ('method', 'constructor')
_OWN = re.compile(r'\b(?:self|cls)\.([A-Za-z_]\w*)')
_WORD = re.compile(r'[A-Za-z_]\w*')


def put_old_body(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with the old body of a function behind its new signature.

    Parameters with new names are bound to their old ones first. None for a variable, for a
    parameter that is gone and has no default value, and for a body that needs names that are gone.
    """
    assert old.member is not None
    if old.member.kind == 'field' or needs_lost_names(old, new):
        return None
    before, after = find_definition(old), find_definition(new)
    body, new_body = before.child_by_field_name('body'), after.child_by_field_name('body')
    pairs = map_lost_parameters(list_parameters(before), list_parameters(after))
    if body is None or new_body is None or pairs is None:
        return None
    if any('*' in f'{parameter.name}{text}' for parameter, text in pairs):
        return None
    margin = find_indentation(new.source, after.start_byte) + b'    '
    was = find_indentation(old.source, body.start_byte)
    strings = find_multiline_strings(make_outline(old.source).root)
    span = slice(body.start_byte, body.end_byte)
    text = reindent(old.source[span], was, margin, body.start_byte, strings)
    lines = [f'{parameter.name} = {given}'.encode() for parameter, given in pairs]
    whole = b''.join(b'\n' + margin + line for line in [*lines, text])
    return replace_body(new.source, new_body, whole)


def accepts_same_calls(old: LocatedDeclaration, new: LocatedDeclaration) -> bool:
    """Return whether the old text of a member can be used as the new one is.

    A function needs the same parameters and has to be of the same kind, such as a property.
    """
    assert old.member is not None
    assert new.member is not None
    if not {old.member.kind, new.member.kind} <= set(_CALLABLES):
        return old.member.kind == new.member.kind
    heads = [
        [
            (parameter.name, parameter.default is None)
            for parameter in list_parameters(find_definition(declared))
        ]
        for declared in (old, new)
    ]
    return heads[0] == heads[1] and old.member.modifiers == new.member.modifiers


def needs_lost_names(old: LocatedDeclaration, new: LocatedDeclaration) -> bool:
    """Return whether the old text of a member uses names that the new file no longer has.

    They are names of the module, and attributes of `self`. Imports do not count: they are added.
    """
    assert old.member is not None
    lost = (
        _list_module_names(old.file) - _list_module_names(new.file) - _list_imported_names(new.file)
    )
    if lost & old.member.names - set(dir(builtins)) - {old.member.name}:
        return True
    elsewhere = _list_words_of_file(old, old.member) - _list_words_of_file(new, None)
    return not elsewhere.isdisjoint(_OWN.findall(old.member.source))


def _list_module_names(file: SourceFile) -> set[str]:
    names = {type_.simple for type_ in file.types if not type_.around}
    return names | {
        member.name for type_ in file.types if type_.kind == MODULE for member in type_.members
    }


def _list_imported_names(file: SourceFile) -> set[str]:
    return {imported.name for imported in file.imports}


def _list_words_of_file(declared: LocatedDeclaration, without: Member | None) -> set[str]:
    """Return the words of the file, except those of one member."""
    text = declared.source
    if without is not None:
        text = text[: without.start_byte] + b' ' + text[without.end_byte :]
    return set(_WORD.findall(text.decode(errors='replace')))
