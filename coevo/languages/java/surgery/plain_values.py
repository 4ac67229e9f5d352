"""Let a method return plain values of its type, or a field hold one, or put an old body behind a
new signature.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from coevo.languages.java.reading.source import (
    get_text,
    iterate_nodes,
    list_children_without_comments,
    parse_java_source,
)
from coevo.languages.measures import (
    MOST_PLAIN,
    LocatedDeclaration,
    Parameter,
    PlainVersion,
    map_lost_parameters,
)
from coevo.languages.text_edits import replace_span

CONSTRUCTOR_CALL = 'explicit_constructor_invocation'

_VALUES = {
    'boolean': ('false', 'true'),
    'byte': ('(byte) 0', '(byte) 1'),
    'char': ("' '", "'?'"),
    'double': ('0.0', '1.0'),
    'float': ('0f', '1f'),
    'int': ('0', '1'),
    'long': ('0L', '1L'),
    'short': ('(short) 0', '(short) 1'),
    'BigDecimal': ('java.math.BigDecimal.ZERO', 'java.math.BigDecimal.ONE'),
    'BigInteger': ('java.math.BigInteger.ZERO', 'java.math.BigInteger.ONE'),
    'Boolean': ('false', 'true'),
    'CharSequence': ('""', '"?"'),
    'Character': ("' '", "'?'"),
    'Collection': ('java.util.Collections.emptyList()',),
    'Double': ('0.0', '1.0'),
    'Duration': ('java.time.Duration.ZERO',),
    'Float': ('0f', '1f'),
    'Integer': ('0', '1'),
    'Iterable': ('java.util.Collections.emptyList()',),
    'Iterator': ('java.util.Collections.emptyIterator()',),
    'List': ('java.util.Collections.emptyList()',),
    'Long': ('0L', '1L'),
    'Map': ('java.util.Collections.emptyMap()',),
    'Object': ('""', '0'),
    'Optional': ('java.util.Optional.empty()',),
    'Path': ('java.nio.file.Paths.get("")',),
    'Set': ('java.util.Collections.emptySet()',),
    'Stream': ('java.util.stream.Stream.empty()',),
    'String': ('""', '"?"'),
}
_CREATED = ('new {}()', '{}.values()[0]')
_GENERIC = 'new {}<>()'
_LITERALS = {
    'character_literal',
    'decimal_floating_point_literal',
    'decimal_integer_literal',
    'false',
    'hex_integer_literal',
    'string_literal',
    'true',
}


def list_versions_with_plain_values(new: LocatedDeclaration) -> tuple[PlainVersion, ...]:
    """Return the file with a method that returns plain values, or with a field that holds one.

    A constructor only calls another one, and sets final fields. Of a class that is not known, an
    object is created, if that compiles. Empty for a method without a body, and for a field whose
    value is no literal.
    """
    assert new.member is not None
    node = parse_java_source(new.source).find_node(new.member)
    if new.member.kind == 'field':
        value_or_body, texts = find_initial_value(node), _list_field_values(node)
    else:
        value_or_body = node.child_by_field_name('body')
        texts = [] if value_or_body is None else list(_list_plain_bodies(new, node, value_or_body))
    sign = ' = ' if new.member.kind == 'field' else ' '
    return tuple(
        PlainVersion(
            written=sign + text,
            source=replace_span(
                new.source, value_or_body.start_byte, value_or_body.end_byte, text.encode()
            ),
        )
        for text in texts[:MOST_PLAIN]
        if value_or_body is not None
    )


def find_initial_value(field: Node) -> Node | None:
    """Return the initial value of a field that is declared alone; None if there is none."""
    declarators = field.children_by_field_name('declarator')
    return declarators[0].child_by_field_name('value') if len(declarators) == 1 else None


def list_parameters(method: Node) -> tuple[Parameter, ...]:
    """Return the parameters of a method or constructor in order, a variable number as an array."""
    holder = method.child_by_field_name('parameters')
    nodes = holder.named_children if holder is not None else []
    return tuple(
        _make_parameter(node)
        for node in nodes
        if node.type in ('formal_parameter', 'spread_parameter')
    )


def _make_parameter(node: Node) -> Parameter:
    if node.type == 'formal_parameter':
        name, type_ = (node.child_by_field_name(field) for field in ('name', 'type'))
        return Parameter(name=_get_text_or_empty(name), type=_get_text_or_empty(type_))
    *_, type_, declarator = (child for child in node.named_children if child.type != 'modifiers')
    return Parameter(name=_get_text_or_empty(declarator), type=f'{_get_text_or_empty(type_)}[]')


def _get_text_or_empty(node: Node | None) -> str:
    return '' if node is None else get_text(node)


# -- methods ---------------------------------------------------------------------------------------


def _list_plain_bodies(new: LocatedDeclaration, method: Node, body: Node) -> Iterator[str]:
    returned = method.child_by_field_name('type')
    if returned is None:
        yield _write_plain_constructor_body(new, method, body)
    elif get_text(returned) == 'void':
        yield '{ }'
    else:
        for value in _list_plain_values(new, method, returned):
            yield f'{{ return {value}; }}'


def _list_plain_values(new: LocatedDeclaration, method: Node, returned: Node) -> list[str]:
    """Return plain values of the type of a method: zero or empty, a parameter, others."""
    assert new.member is not None
    text = get_text(returned)
    simple = text.partition('<')[0].rpartition('.')[2].strip()
    same = [parameter.name for parameter in list_parameters(method) if parameter.type == text][:1]
    if simple == new.type.simple and 'static' not in new.member.modifiers:
        same = ['this', *same]
    if text.endswith('[]'):
        element = text.partition('[')[0].partition('<')[0]
        return [f'new {element}[0]{"[]" * (text.count("[]") - 1)}', *same]
    if simple in _VALUES:
        zero, *others = _VALUES[simple]
        return [zero, *same, *others]
    plain = text.partition('<')[0]
    if '<' in text:
        return [*same, _GENERIC.format(plain)]
    return [*same, *(form.format(plain) for form in _CREATED)]


def _write_plain_constructor_body(new: LocatedDeclaration, method: Node, body: Node) -> str:
    """Return the body of a constructor that sets final fields alone, after its call of another one."""
    calls = [get_text(node) for node in body.named_children if node.type == CONSTRUCTOR_CALL]
    if any(call.startswith('this') for call in calls):
        return f'{{ {calls[0]} }}'
    assigned = [
        get_text(left)
        for node in iterate_nodes(body, into_local_classes=False)
        if node.type == 'assignment_expression'
        and (left := node.child_by_field_name('left')) is not None
    ]
    source = parse_java_source(new.source)
    sets = [
        f'this.{member.name} = {_choose_zero(source.find_node(member))};'
        for member in new.type.members
        if member.kind == 'field'
        and {'final'} == member.modifiers & {'final', 'static'}
        and {member.name, f'this.{member.name}'} & set(assigned)
    ]
    return f'{{ {" ".join([*calls, *sets])} }}'


def _choose_zero(field: Node) -> str:
    type_ = _get_text_or_empty(field.child_by_field_name('type')).partition('<')[0]
    return _VALUES.get(type_, ('null',))[0]


# -- fields ----------------------------------------------------------------------------------------


def _list_field_values(field: Node) -> list[str]:
    value = find_initial_value(field)
    while value is not None and value.type == 'unary_expression':
        value = list_children_without_comments(value)[-1]
    if value is None or value.type not in _LITERALS:
        return []
    return list(_VALUES.get(_get_text_or_empty(field.child_by_field_name('type')), ()))


def put_old_body(old: LocatedDeclaration, new: LocatedDeclaration) -> bytes | None:
    """Return the new file with the old body of a method, or the old value of a field.

    Parameters with new names are assigned to their old ones first. None if either end has no body
    or value, or if a parameter is gone.
    """
    assert old.member is not None
    assert new.member is not None
    before = parse_java_source(old.source).find_node(old.member)
    after = parse_java_source(new.source).find_node(new.member)
    if new.member.kind == 'field':
        was, now = find_initial_value(before), find_initial_value(after)
        text = b'' if was is None else old.source[was.start_byte : was.end_byte]
    else:
        was, now = (node.child_by_field_name('body') for node in (before, after))
        pairs = map_lost_parameters(list_parameters(before), list_parameters(after))
        if was is None or pairs is None:
            return None
        lines = b''.join(
            f' {parameter.type} {parameter.name} = {name};'.encode() for parameter, name in pairs
        )
        start = _find_first_statement_offset(was)
        text = old.source[was.start_byte : start] + lines + old.source[start : was.end_byte]
    if was is None or now is None:
        return None
    return replace_span(new.source, now.start_byte, now.end_byte, text)


def _find_first_statement_offset(body: Node) -> int:
    """Return where statements may begin: a call of another constructor stays first."""
    calls = [child for child in body.named_children if child.type == CONSTRUCTOR_CALL]
    return calls[0].end_byte if calls else body.start_byte + 1
