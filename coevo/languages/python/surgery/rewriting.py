"""Write Python otherwise without changing what it does.

Implements `coevo.languages.rewriting.ProgramRewriter`. The types of most values are unknown, so
operators become the functions of `_operator` that are defined to do the same, without a frame of
their own: `a < b` becomes `_x.lt(a, b)`, `a.b` becomes `_x.attrgetter('b')(a)`. Literals are
computed by methods that the compiler does not run. A global name is read by a small function.

Annotations, decorators, patterns, targets of assignments and strings with holes stay as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from tree_sitter import Node, Parser

from coevo.languages.python.reading.statements import is_text_statement
from coevo.languages.python.reading.tokens import PYTHON
from coevo.languages.python.surgery.renaming import (
    find_outer_function,
    list_bound_names,
    list_renamings,
    may_inspect_locals,
)
from coevo.languages.rewriting import (
    Piece,
    PieceRole,
    Rewrite,
    RewriteKind,
    Rewrites,
    get_text,
    invent_name,
    replace_text,
    rewrite_literal,
    swap_neighbours,
    walk_named_nodes,
    wrap,
)
from coevo.languages.spans import Span

# Below these nothing is rewritten: what is no expression, or must be a name or a literal.
_LEFT_OUT = frozenset(
    {
        'as_pattern_target',
        'case_pattern',
        'comment',
        'concatenated_string',
        'decorator',
        'delete_statement',
        'format_specifier',
        'future_import_statement',
        'global_statement',
        'import_from_statement',
        'import_statement',
        'interpolation',
        'line_continuation',
        'nonlocal_statement',
        'type',
        'type_alias_statement',
        'type_parameter',
    }
)
# Fields that hold a target or a name.
_TARGETS = frozenset(
    {
        ('assignment', 'left'),
        ('augmented_assignment', 'left'),
        ('class_definition', 'name'),
        ('class_definition', 'superclasses'),
        ('default_parameter', 'name'),
        ('for_in_clause', 'left'),
        ('for_statement', 'left'),
        ('function_definition', 'name'),
        ('keyword_argument', 'name'),
        ('lambda', 'parameters'),
        ('named_expression', 'name'),
        ('typed_default_parameter', 'name'),
    }
)
_BINARY = {
    '+': 'add',
    '-': 'sub',
    '*': 'mul',
    '/': 'truediv',
    '//': 'floordiv',
    '%': 'mod',
    '**': 'pow',
    '@': 'matmul',
    '<<': 'lshift',
    '>>': 'rshift',
    '&': 'and_',
    '|': 'or_',
    '^': 'xor',
    '<': 'lt',
    '<=': 'le',
    '==': 'eq',
    '!=': 'ne',
    '>=': 'ge',
    '>': 'gt',
    'is': 'is_',
    'is not': 'is_not',
}
_UNARY = {'-': 'neg', '+': 'pos', '~': 'invert'}
# Functions that look at the frame which calls them, or that the compiler knows by name.
_FRAMED = frozenset({'__class__', 'dir', 'eval', 'exec', 'locals', 'super', 'vars'})
# A condition of these kinds is asked by its operands.
_PASS_ON = ('boolean_operator', 'not_operator', 'parenthesized_expression')
_LARGEST = 1 << 62
_SIMPLE = ('expression_statement', 'import_statement', 'import_from_statement')


@dataclass(slots=True, kw_only=True)
class _Rewriter:
    """The search for rewrites of one file.

    operators  the name of the module `_operator` in the file; None if it cannot be imported there
    bound      the names that an outermost function, or one inside it, binds, by the function's id
    """

    draw: Random
    operators: str | None
    bound: dict[int, frozenset[str]] = field(default_factory=dict)

    def list_rewrites(self, span: Span, root: Node) -> Iterator[Rewrite]:
        """Yield the rewrites of a span, outer nodes first."""
        waiting: list[tuple[Node, bool]] = [(root, False)]
        while waiting:
            node, is_condition = waiting.pop()
            if node.end_byte <= span[0] or node.start_byte >= span[1] or node.type in _LEFT_OUT:
                continue
            if is_text_statement(node):
                continue
            if span[0] <= node.start_byte and node.end_byte <= span[1]:
                yield from self._rewrite_node(node, is_condition=is_condition)
            waiting += reversed(list(_list_rewritable_children(node, is_condition=is_condition)))

    def _rewrite_node(self, node: Node, *, is_condition: bool) -> Iterator[Rewrite]:
        if is_condition:
            yield from self._rewrite_condition(node)
        match node.type:
            case 'integer':
                yield from self._rewrite_integer(node)
            case 'float':
                yield from self._rewrite_float(node)
            case 'string':
                yield from self._rewrite_string(node)
            case 'identifier':
                yield from self._wrap_name_in_lambda(node)
            case 'block':
                yield from self._swap_statements(node)
            case _ if self.operators is not None:
                yield from self._rewrite_operator(node, self.operators)

    # -- literals ----------------------------------------------------------------------------------

    def _rewrite_integer(self, node: Node) -> Iterator[Rewrite]:
        try:
            value = int(get_text(node), 0)
        except ValueError:
            return
        if value >= _LARGEST or _is_compared_by_identity(node):
            return
        other = self.draw.randint(1_000, 1_000_000)
        forms = (
            f'({value - other}).__add__({other})',
            f'({value + other}).__sub__({other})',
            f'({value ^ other}).__xor__({other})',
        )
        yield rewrite_literal(node, self.draw.choice(forms).encode(), is_text=False)

    def _rewrite_float(self, node: Node) -> Iterator[Rewrite]:
        try:
            value = float(get_text(node))
        except ValueError:
            return
        half = value / 2
        if half * 2 != value or not 1e-300 < value < 1e300 or _is_compared_by_identity(node):
            return
        yield rewrite_literal(node, f'({half!r}).__mul__(2.0)'.encode(), is_text=False)

    def _rewrite_string(self, node: Node) -> Iterator[Rewrite]:
        try:
            text = get_text(node)
        except UnicodeDecodeError:
            return  # the file has another encoding
        start = text[: len(text) - len(text.lstrip('bBrRuU'))]
        body = text[len(start) :]
        quote = body[:1]
        content = body[1:-1]
        if body[:1] not in ("'", '"') or body[:3] in ("'''", '"""'):
            return
        if len(content) < 2 or set('\\\n\r') & set(content) or _is_compared_by_identity(node):
            return
        at = self.draw.randint(1, len(content) - 1)
        first, second = (f'{start}{quote}{part}{quote}' for part in (content[:at], content[at:]))
        yield rewrite_literal(node, f'{first}.__add__({second})'.encode(), is_text=True)

    # -- operators and conditions ------------------------------------------------------------------

    def _rewrite_operator(self, node: Node, module: str) -> Iterator[Rewrite]:
        match node.type:
            case 'binary_operator' | 'comparison_operator':
                yield from self._rewrite_binary(node, module)
            case 'unary_operator':
                operator = node.child_by_field_name('operator')
                assert operator is not None, 'the grammar'
                yield self._rewrite_as_call(node, operator, f'({module}.{_UNARY[operator.type]})(')
            case 'not_operator':
                argument = node.child_by_field_name('argument')
                if argument is not None and _evaluates_truth_once(argument):
                    yield self._rewrite_as_call(node, node.children[0], f'{module}.not_(')
            case 'attribute':
                yield from self._rewrite_attribute(node, module)

    def _rewrite_binary(self, node: Node, module: str) -> Iterator[Rewrite]:
        if len(node.named_children) != 2 or len(node.children) != 3:
            return
        operator = node.children[1]
        name = _BINARY.get(operator.type)
        if name is None:
            return
        around = wrap(node, f'({module}.{name})('.encode(), b')')
        comma = replace_text(operator, b',')
        yield Rewrite(kind=RewriteKind.OPERATOR, pieces=(*around, comma))

    def _rewrite_attribute(self, node: Node, module: str) -> Iterator[Rewrite]:
        name = node.child_by_field_name('attribute')
        if name is None or len(node.children) != 3 or get_text(name).startswith('__'):
            return
        dot = node.children[1]
        before = f'({module}.attrgetter)({get_text(name)!r})('
        yield Rewrite(
            kind=RewriteKind.OPERATOR,
            pieces=(
                wrap(node, before.encode(), b'')[0],
                replace_text(dot, b''),
                replace_text(name, b')'),
            ),
        )

    def _rewrite_as_call(self, node: Node, operator: Node, before: str) -> Rewrite:
        return Rewrite(
            kind=RewriteKind.OPERATOR,
            pieces=(
                replace_text(operator, before.encode()),
                wrap(node, b'', b')')[1],
            ),
        )

    def _rewrite_condition(self, node: Node) -> Iterator[Rewrite]:
        """Put a condition the other way round, and ask for its truth once."""
        if self.operators is None or node.type in _PASS_ON or not _evaluates_truth_once(node):
            return
        before = f' not {self.operators}.not_('
        yield Rewrite(
            kind=RewriteKind.CONDITION,
            pieces=wrap(node, before.encode(), b')'),
        )

    # -- names and statements ----------------------------------------------------------------------

    def _wrap_name_in_lambda(self, node: Node) -> Iterator[Rewrite]:
        """Read a global name in a function of its own."""
        name, outer = get_text(node), find_outer_function(node)
        if outer is None or name in _FRAMED or name.startswith('__'):
            return
        body = outer.child_by_field_name('body')
        if body is None or not body.start_byte <= node.start_byte < body.end_byte:
            return  # a default value, which may be read in the body of a class
        if outer.id not in self.bound:
            self.bound[outer.id] = list_bound_names(outer)
        if name not in self.bound[outer.id]:
            pieces = wrap(node, b'(lambda: ', b')()')
            yield Rewrite(kind=RewriteKind.HELPER, pieces=pieces)

    def _swap_statements(self, block: Node) -> Iterator[Rewrite]:
        """Swap pairs of assignments of literals to two local variables."""
        outer = find_outer_function(block)
        if outer is None or may_inspect_locals(outer) or _is_in_class(block, outer):
            return
        shared = _list_global_or_nonlocal_names(outer)

        def find_target(statement: Node) -> str | None:
            """Return the variable of its own to which a statement assigns a literal, or None."""
            name = _find_variable_of_literal(statement)
            return None if name in shared else name

        statements = [child for child in block.named_children if child.type != 'comment']
        yield from swap_neighbours(statements, find_target)


def list_rewrites(source: bytes, spans: Sequence[Span], draw: Random) -> Rewrites:
    """Return the rewrites of all nodes in some spans of a file, in a form that `draw` chooses.

    Empty if the file has a syntax error.
    """
    root = Parser(PYTHON).parse(source).root_node
    if root.has_error:
        return Rewrites()
    at = _find_import_offset_and_side(root)
    operators = None if at is None else invent_name(draw)
    rewriter = _Rewriter(draw=draw, operators=operators)
    rewrites = [
        rewrite
        for span in spans
        for rewrite in (
            *rewriter.list_rewrites(span, root),
            *list_renamings(root, span, draw),
        )
    ]
    support = () if at is None or operators is None else (_make_import(*at, operators),)
    return Rewrites(rewrites=tuple(rewrites), support=support)


def _list_rewritable_children(node: Node, *, is_condition: bool) -> Iterator[tuple[Node, bool]]:
    """Yield the nodes inside a node that may be rewritten, and whether each is a condition."""
    for index, child in enumerate(node.children):
        field_name = node.field_name_for_child(index)
        if not child.is_named or (node.type, field_name) in _TARGETS:
            continue
        if node.type == 'attribute' and field_name == 'attribute':
            continue
        if node.type in ('parameters', 'lambda_parameters') and 'default' not in child.type:
            continue
        if node.type in ('dictionary_splat_pattern', 'list_splat_pattern'):
            continue
        passes_on = is_condition and node.type in _PASS_ON
        yield child, passes_on or _is_condition(node, index, field_name)


def _is_condition(node: Node, index: int, field_name: str | None) -> bool:
    match node.type:
        case 'if_statement' | 'elif_clause' | 'while_statement':
            return field_name == 'condition'
        case 'conditional_expression':
            return index == 2
        case 'if_clause':
            return node.children[index].is_named
    return False


def _evaluates_truth_once(node: Node) -> bool:
    """Return whether an expression asks for the truth of none of its parts.

    False for `a and b`: it asks for the truth of `a`, which may also be its value. A function that
    gets that value asks `a` a second time.
    """
    while node.type == 'parenthesized_expression' and len(node.named_children) == 1:
        node = node.named_children[0]
    if node.type == 'comparison_operator' and len(node.named_children) > 2:
        return False  # a comparison inside a chain may be the value, too
    return node.type not in (
        'boolean_operator',
        'conditional_expression',
        'not_operator',
        'yield',
    )


def _is_compared_by_identity(node: Node) -> bool:
    parent = node.parent
    return parent is not None and any(child.type in ('is', 'is not') for child in parent.children)


def _is_in_class(node: Node, outer: Node) -> bool:
    """Return whether a class stands between a node and the outermost function around it."""
    while node != outer and node.parent is not None:
        if node.type == 'class_definition':
            return True
        node = node.parent
    return False


def _list_global_or_nonlocal_names(outer: Node) -> frozenset[str]:
    """Return the names that a function or one inside it declares to be global or nonlocal."""
    return frozenset(
        get_text(child)
        for node in walk_named_nodes(outer)
        if node.type in ('global_statement', 'nonlocal_statement')
        for child in node.named_children
    )


def _find_variable_of_literal(statement: Node) -> str | None:
    """Return the variable to which a statement of one line assigns a literal, or None."""
    inner = statement.named_children
    if statement.type != 'expression_statement' or len(inner) != 1:
        return None
    left, right = (inner[0].child_by_field_name(name) for name in ('left', 'right'))
    if inner[0].type != 'assignment' or inner[0].child_by_field_name('type') is not None:
        return None
    if left is None or right is None or left.type != 'identifier':
        return None
    is_literal = right.type in ('integer', 'float', 'true', 'false', 'none') or (
        right.type == 'string' and not any(c.type == 'interpolation' for c in right.children)
    )
    one_line = statement.start_point.row == statement.end_point.row
    return get_text(left) if is_literal and one_line else None


def _find_import_offset_and_side(root: Node) -> tuple[int, bool] | None:
    """Return where a module can be imported on a line that is there, and whether behind a statement.

    It is behind the docstring and imports of `__future__`, or before the first simple statement.
    None if there is no such place.
    """
    last = None
    for node in root.named_children:
        if node.type == 'comment':
            continue
        if node.type == 'future_import_statement' or (last is None and is_text_statement(node)):
            last = node
            continue
        if last is None:
            return (node.start_byte, False) if node.type in _SIMPLE else None
        break
    return None if last is None else (last.end_byte, True)


def _make_import(at: int, is_behind: bool, name: str) -> Piece:
    statement = f'import _operator as {name}'
    text = f'; {statement}' if is_behind else f'{statement}; '
    return Piece(start=at, end=at, text=text.encode(), role=PieceRole.STATEMENT)
