"""Write Java otherwise without changing what it does.

Implements `coevo.languages.rewriting.ProgramRewriter`. A literal becomes an expression that the
compiler does not evaluate: `10` becomes `(3477442 ^ "qwer".hashCode())`. So it stays as it is where only a
constant is allowed, or where a constant means something else: in annotations, labels, initial
values of final variables, arms of `?:`, and where a narrower type or an interned string follows.

No method is extracted: reflection lists methods, and lambdas and classes get names by numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from tree_sitter import Node, Parser

from coevo.languages.java.reading.tokens import JAVA
from coevo.languages.java.surgery.renaming import (
    find_types_of_local_variables,
    list_renamings,
)
from coevo.languages.measures import invent_word
from coevo.languages.rewriting import (
    Rewrite,
    RewriteKind,
    Rewrites,
    get_text,
    mirror_literal,
    replace_text,
    rewrite_literal,
    swap_neighbours,
    walk_named_nodes,
    wrap,
)
from coevo.languages.spans import Span

# Below these nothing is rewritten.
_LEFT_OUT = frozenset(
    {
        'annotation',
        'array_initializer',
        'block_comment',
        'import_declaration',
        'line_comment',
        'marker_annotation',
        'package_declaration',
        'switch_label',
        'template_expression',
    }
)
_INTEGERS = ('decimal_integer_literal', 'hex_integer_literal')
_LITERALS = frozenset(
    {*_INTEGERS, 'character_literal', 'decimal_floating_point_literal', 'string_literal'}
)
# An expression around a constant that may be one, too.
_FOLDED = frozenset(
    {'binary_expression', 'cast_expression', 'parenthesized_expression', 'ternary_expression'}
    | {'unary_expression'}
)
# An expression with one of these is no constant.
_COMPUTED = frozenset(
    {'array_access', 'array_creation_expression', 'lambda_expression', 'method_invocation'}
    | {'object_creation_expression', 'switch_expression', 'this', 'update_expression'}
)
_NARROW = frozenset({'byte', 'short', 'char', 'Byte', 'Short', 'Character'})
_NUMERIC = frozenset({'byte', 'short', 'char', 'int', 'long', 'float', 'double'})
_MIRRORED = {
    b'<': b'>',
    b'<=': b'>=',
    b'>': b'<',
    b'>=': b'<=',
    b'==': b'==',
    b'!=': b'!=',
    b'*': b'*',
    b'&': b'&',
    b'|': b'|',
    b'^': b'^',
}
_COMPARED = b'(java.lang.Integer.compare('
_CALLED = {
    b'+': b'java.lang.Integer.sum(',
    **dict.fromkeys((b'<', b'<=', b'>', b'>='), _COMPARED),
}
_CONDITIONS = ('if_statement', 'while_statement', 'do_statement', 'for_statement')
_MOST = (1 << 31) - 1


def list_rewrites(source: bytes, spans: Sequence[Span], draw: Random) -> Rewrites:
    """Return the rewrites of all nodes in some spans of a file, in a form that `draw` chooses.

    Empty if the file has a syntax error.
    """
    root = Parser(JAVA).parse(source).root_node
    if root.has_error:
        return Rewrites()
    rewriter = _Rewriter(draw=draw)
    return Rewrites(
        rewrites=tuple(
            rewrite
            for span in spans
            for rewrite in (
                *rewriter.list_rewrites(span, root),
                *list_renamings(root, span, draw),
            )
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rewriter:
    draw: Random

    def list_rewrites(self, span: Span, root: Node) -> Iterator[Rewrite]:
        """Yield the rewrites of a span, outer nodes first."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.end_byte <= span[0] or node.start_byte >= span[1] or node.type in _LEFT_OUT:
                continue
            swapped = None
            if span[0] <= node.start_byte and node.end_byte <= span[1]:
                if _is_condition(node):
                    yield from self._disguise_condition(node)
                swapped = self._swap_operands(node)
                yield from self._rewrite_node(node) if swapped is None else [swapped]
            if swapped is None:
                waiting += reversed(node.named_children)

    def _rewrite_node(self, node: Node) -> Iterator[Rewrite]:
        if node.type == 'block':
            comments = ('block_comment', 'line_comment')
            statements = [child for child in node.named_children if child.type not in comments]
            yield from swap_neighbours(statements, _find_variable_of_literal)
        elif node.type in _LITERALS and _may_replace_literal(node):
            written = self._write_literal_as_expression(node)
            if written is not None:
                is_text = node.type == 'string_literal'
                yield rewrite_literal(node, written, is_text=is_text)
        elif node.type == 'binary_expression':
            yield from self._replace_int_operator_by_call(node)

    # -- literals ----------------------------------------------------------------------------------

    def _write_literal_as_expression(self, node: Node) -> bytes | None:
        """Return an expression of the type and value of a literal; None if there is none."""
        text = node.text or b''
        match node.type:
            case 'string_literal':
                return self._write_string_as_concatenation(text)
            case 'character_literal':
                return self._write_character_as_call(text)
            case 'decimal_floating_point_literal':
                return self._write_float_as_product(text)
        return self._write_integer_as_expression(text.decode())

    def _write_integer_as_expression(self, text: str) -> bytes | None:
        suffix = 'L' if text[-1:] in 'lL' else ''
        digits = text.rstrip('lL').replace('_', '')
        if len(digits) > 1 and digits.startswith('0') and digits[1] not in 'xX':
            return None  # octal
        value, word = int(digits, 0), invent_word(self.draw)
        if value > _MOST:
            return None
        other = value ^ _compute_java_hash(word)
        return f'({other}{suffix} ^ "{word.decode()}".hashCode())'.encode()

    def _write_float_as_product(self, text: bytes) -> bytes | None:
        suffix = text[-1:].decode() if text[-1:] in b'fFdD' else ''
        try:
            value = float(text.rstrip(b'fFdD').replace(b'_', b''))
        except ValueError:
            return None
        # a float may round otherwise where its half is not written with the same digits
        if not 1e-30 < value < 1e30 or (suffix in ('f', 'F') and value * 64 % 1):
            return None
        word = invent_word(self.draw).decode()[:2]
        return f'({value / 2!r}{suffix} * "{word}".length())'.encode()

    def _write_character_as_call(self, text: bytes) -> bytes | None:
        if b'\\u' in text:
            return None
        content = b'\\"' if text == b"'\"'" else text[1:-1]
        return b'"%b%b".charAt(1)' % (invent_word(self.draw)[:1], content)

    def _write_string_as_concatenation(self, text: bytes) -> bytes | None:
        try:
            content = text[1:-1].decode()
        except UnicodeDecodeError:
            return None  # the file has another encoding
        if text.startswith(b'"""') or '\\' in content or len(content) < 2:
            return None
        at = self.draw.randint(1, len(content) - 1)
        # the compiler interns literals
        return f'"{content[:at]}".concat("{content[at:]}").intern()'.encode()

    # -- operators and conditions ------------------------------------------------------------------

    def _swap_operands(self, node: Node) -> Rewrite | None:
        """Swap a variable and a literal around an operator that allows it, or draw not to."""
        if node.type != 'binary_expression':
            return None
        left, right = (node.child_by_field_name(name) for name in ('left', 'right'))
        operator = node.child_by_field_name('operator')
        if left is None or right is None or operator is None:
            return None
        mirrored = _MIRRORED.get(operator.text or b'')
        if next(self._replace_int_operator_by_call(node), None) is not None:
            return None
        kinds = {left.type, right.type}
        if (
            mirrored is None
            or 'identifier' not in kinds
            or not kinds & {*_LITERALS, 'null_literal'}
        ):
            return None
        literal = left if left.type != 'identifier' else right
        is_computed = literal.type in _LITERALS and _may_replace_literal(literal)
        if is_computed and self.draw.random() < 0.5:
            return None  # the literal is rewritten by itself
        return Rewrite(
            kind=RewriteKind.OPERATOR,
            pieces=mirror_literal(
                left, operator, right, mirrored, self._write_operand_computing_literals
            ),
        )

    def _write_operand_computing_literals(self, node: Node) -> bytes:
        computed = (
            self._write_literal_as_expression(node)
            if node.type in _LITERALS and _may_replace_literal(node)
            else None
        )
        return computed if computed is not None else node.text or b''

    def _replace_int_operator_by_call(self, node: Node) -> Iterator[Rewrite]:
        """Let a method of the library add or compare two values of the type int."""
        operator = node.child_by_field_name('operator')
        text = b'' if operator is None else operator.text or b''
        called = _CALLED.get(text)
        sides = [node.child_by_field_name(name) for name in ('left', 'right')]
        types = find_types_of_local_variables(node) if called is not None else {}
        is_known = all(_is_int(side, types) for side in sides)
        if operator is None or called is None or not is_known:
            return
        if all(side is not None and side.type in _INTEGERS for side in sides):
            return  # a constant
        after = b')' if text == b'+' else b') %b 0)' % text
        around = wrap(node, called, after)
        comma = replace_text(operator, b',')
        yield Rewrite(kind=RewriteKind.HELPER, pieces=(*around, comma))

    def _disguise_condition(self, node: Node) -> Iterator[Rewrite]:
        """Compare the opposite of a condition with a value that the compiler does not know."""
        inside = {inner.type for inner in walk_named_nodes(node)}
        if node.type in ('true', 'false') or inside & {
            'assignment_expression',
            'instanceof_expression',
        }:
            return  # variables that are assigned, or declared, where it is true
        word = invent_word(self.draw)
        yield Rewrite(
            kind=RewriteKind.CONDITION,
            pieces=wrap(node, b'!(', b') == "%b".isEmpty()' % word),
        )


def _compute_java_hash(word: bytes) -> int:
    """Return what `String.hashCode` is of an ASCII word, by definition."""
    number = 0
    for byte in word:
        number = (31 * number + byte) & 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


def _may_replace_literal(literal: Node) -> bool:
    """Return whether an expression of its type may stand in place of a constant."""
    top, around = literal, literal.parent
    while around is not None and around.type in _FOLDED:
        is_arm = around.type == 'ternary_expression' and (
            around.child_by_field_name('condition') != top
        )
        if is_arm and literal.type != 'string_literal':
            return False  # a constant arm may be of a narrower type
        if around.type == 'cast_expression' and literal.type == 'string_literal':
            return False
        top, around = around, around.parent
    inside = {inner.type for inner in walk_named_nodes(top)}
    if top != literal and 'string_literal' in inside and not inside & _COMPUTED:
        return False  # a constant string is interned
    if around is None:
        return False
    match around.type:
        case 'variable_declarator':
            return _may_declarator_hold_expression(around)
        case 'return_statement':
            return _may_return_expression(around)
        case 'lambda_expression' | 'yield_statement' | 'switch_rule' | 'element_value_pair':
            return False
        case 'expression_statement':
            return around.parent is not None and around.parent.type != 'switch_rule'
    return True


def _may_declarator_hold_expression(declarator: Node) -> bool:
    declaration = declarator.parent
    if declaration is None or declaration.type == 'constant_declaration':
        return False
    type_ = declaration.child_by_field_name('type')
    modifiers = next((c for c in declaration.named_children if c.type == 'modifiers'), None)
    words = (modifiers.text or b'').split() if modifiers is not None else []
    if type_ is None or b'final' in words or _is_in_interface(declaration):
        return False
    return get_text(type_) not in _NARROW


def _is_in_interface(declaration: Node) -> bool:
    body = declaration.parent
    return body is not None and body.type in ('annotation_type_body', 'interface_body')


def _may_return_expression(statement: Node) -> bool:
    around = statement.parent
    while around is not None and around.type != 'method_declaration':
        if around.type == 'lambda_expression':
            return False
        around = around.parent
    type_ = around.child_by_field_name('type') if around is not None else None
    return type_ is not None and get_text(type_) not in _NARROW


def _is_condition(node: Node) -> bool:
    parent = node.parent
    if parent is None:
        return False
    if parent.type == 'parenthesized_expression' and parent.parent is not None:
        return (
            parent.parent.type in _CONDITIONS
            and parent.parent.child_by_field_name('condition') == parent
        )
    is_asked = parent.type in ('for_statement', 'ternary_expression')
    return is_asked and parent.child_by_field_name('condition') == node


def _is_int(operand: Node | None, types: Mapping[str, str]) -> bool:
    if operand is None:
        return False
    text = get_text(operand)
    if operand.type == 'identifier':
        return types.get(text) == 'int'
    return operand.type in _INTEGERS and text[-1] not in 'lL'


def _find_variable_of_literal(statement: Node) -> str | None:
    """Return the variable that a statement of one line declares with a literal, or None."""
    declarators = [c for c in statement.named_children if c.type == 'variable_declarator']
    if statement.type != 'local_variable_declaration' or len(declarators) != 1:
        return None
    name, value = (declarators[0].child_by_field_name(field) for field in ('name', 'value'))
    one_line = statement.start_point.row == statement.end_point.row
    if name is None or value is None or value.type not in {*_LITERALS, 'true', 'false'}:
        return None
    return get_text(name) if one_line else None
