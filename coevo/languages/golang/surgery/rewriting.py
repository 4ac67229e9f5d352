"""Write Go otherwise without changing what it does.

Implements `coevo.languages.rewriting.ProgramRewriter`. A literal is computed from what a function
returns, and a string is put together by one, once. The compiler inlines neither; both are declared at
the end of the file. Constants of Go take their type from what is around them, so a literal is only rewritten
where that type is known: beside a variable of a basic type, in its declaration, or as a result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from tree_sitter import Node, Parser

from coevo.languages.golang.reading.token_walk import GO
from coevo.languages.rewriting import (
    Piece,
    PieceRole,
    Rewrite,
    RewriteKind,
    Rewrites,
    get_text,
    invent_name,
    mirror_literal,
    rename,
    rewrite_literal,
    swap_neighbours,
    walk_named_nodes,
    wrap,
)
from coevo.languages.spans import Span

_DECLARED = ('function_declaration', 'method_declaration')
_FUNCTIONS = (*_DECLARED, 'func_literal')
# Nodes whose fields `name` declare variables or the like.
_NAMED = frozenset(
    {'const_spec', 'parameter_declaration', 'type_spec', 'var_spec', 'type_parameter_declaration'}
    | {'variadic_parameter_declaration', *_DECLARED}
)
_LISTED = frozenset({'range_clause', 'receive_statement', 'short_var_declaration'})


def find_enclosing_function(node: Node, *, outermost: bool = False) -> Node | None:
    """Return the innermost or the outermost function around a node, or None."""
    function, at = None, node.parent
    while at is not None:
        if at.type in _FUNCTIONS:
            function = at
            if not outermost:
                return function
        at = at.parent
    return function


def count_declarations_by_name(nodes: list[Node]) -> Counter[str]:
    """Count how often each name is declared."""
    declared: Counter[str] = Counter()
    for node in nodes:
        names = node.children_by_field_name('name') if node.type in _NAMED else []
        left = node.child_by_field_name('left') if node.type in _LISTED else None
        if node.type == 'type_switch_statement':
            left = node.child_by_field_name('alias')
        names = [*names, *(left.named_children if left is not None else [])]
        declared.update(get_text(name) for name in names)
    return declared


def list_renamings(root: Node, span: Span, draw: Random) -> Iterator[Rewrite]:
    """Yield a new name for local variables of the functions inside a span.

    Only those are renamed that a function declares once, by `:=`, and that are used behind that in
    the same block alone.
    """
    for function in root.named_children:
        inside = span[0] <= function.start_byte and function.end_byte <= span[1]
        if not inside or function.type not in _DECLARED:
            continue
        nodes = list(walk_named_nodes(function))
        declared = count_declarations_by_name(nodes)
        element_keys = {
            get_text(inner)
            for node in nodes
            if node.type == 'keyed_element'
            for inner in walk_named_nodes(node.named_children[0])
        }
        for node in nodes:
            left = node.child_by_field_name('left')
            if node.type != 'short_var_declaration' or left is None or node.parent is None:
                continue
            for name in left.named_children:
                text = get_text(name)
                uses = [use for use in nodes if use.type == 'identifier' and get_text(use) == text]
                is_clear = all(
                    use == name or node.end_byte <= use.start_byte < node.parent.end_byte
                    for use in uses
                )
                if text != '_' and declared[text] == 1 and text not in element_keys and is_clear:
                    yield rename(uses, invent_name(draw, text))


# Below these nothing is rewritten.
_LEFT_OUT = frozenset(
    {
        'array_type',
        'comment',
        'const_declaration',
        'import_declaration',
        'package_clause',
        'type_declaration',
    }
)
_SMALL = frozenset({'byte', 'int8', 'uint8'})
# Integers that stay within the type if its lowest bits change: three, and thirteen.
_MOST_SMALL, _MOST = 119, 24_575
_INTEGERS = frozenset(
    {'int', 'int16', 'int32', 'int64', 'rune', 'uint', 'uint16', 'uint32', 'uint64', *_SMALL}
)
_BASIC = frozenset({*_INTEGERS, 'float64', 'string'})
_LITERALS = {
    'int_literal': 'int',
    'float_literal': 'float64',
    'interpreted_string_literal': 'string',
}
_COMPARISONS = {'<': '>', '<=': '>=', '>': '<', '>=': '<=', '==': '==', '!=': '!='}
_MIRRORED = {operator.encode(): mirrored.encode() for operator, mirrored in _COMPARISONS.items()}
_ARITHMETIC = frozenset({'+', '-', '*', '/', '%', '&', '|', '^'})
_TYPED = frozenset({*_COMPARISONS, *_ARITHMETIC})
_CALLED = ('call_expression', 'index_expression', 'selector_expression', 'slice_expression')


def list_rewrites(source: bytes, spans: Sequence[Span], draw: Random) -> Rewrites:
    """Return the rewrites of all nodes in some spans of a file, in a form that `draw` chooses.

    Empty if the file has a syntax error.
    """
    root = Parser(GO).parse(source).root_node
    if root.has_error:
        return Rewrites()
    rewriter = _Rewriter(draw=draw, names=_Support.invent(draw))
    rewrites = [
        rewrite
        for span in spans
        for rewrite in (*rewriter.list_rewrites(span, root), *list_renamings(root, span, draw))
    ]
    return Rewrites(
        rewrites=tuple(rewrites), support=(rewriter.names.make_piece(source, rewriter.texts),)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Support:
    """The functions at the end of a file, which the compiler does not inline.

    small, large  what is added to and removed from integers by `^`, as functions return it
    """

    small_name: str
    small: int
    large_name: str
    large: int
    two: str
    no: str
    join: str

    @classmethod
    def invent(cls, draw: Random) -> _Support:
        """Return declarations with names and numbers that the draw decides."""
        small, large, two, no, join = (invent_name(draw, 'p') for _ in range(5))
        return cls(
            small_name=small,
            small=draw.randint(1, 7),
            large_name=large,
            large=draw.randint(4096, 8191),
            two=two,
            no=no,
            join=join,
        )

    def make_piece(self, source: bytes, texts: Sequence[tuple[str, str]]) -> Piece:
        """Return the declarations, to be put at the end of the file.

        texts  as in `_Rewriter`
        """
        # Not variables, which would change the order in which those of the package are initialised.
        functions = (
            f'{self.small_name}() int {{ return {self.small} }}',
            f'{self.large_name}() int {{ return {self.large} }}',
            f'{self.two}() float64 {{ return 2 }}',
            f'{self.no}() bool {{ return false }}',
            f'{self.join}(a, b string) string {{ return a + b }}',
        )
        text = ''.join(f'\n//go:noinline\nfunc {function}\n' for function in functions)
        text += ''.join(_declare_text(name, expression) for name, expression in texts)
        at = len(source)
        return Piece(start=at, end=at, text=text.encode(), role=PieceRole.STATEMENT)


def _declare_text(name: str, expression: str) -> str:
    """Return the function that returns a string, which a program puts together once.

    So a test that counts allocations finds none. The variable has no initial value, so that the
    order in which those of the package are initialised stays. While they are, the string is put
    together at each call.
    """
    kept = f'{name}Kept'
    return (
        f'\nvar {kept} *string\n'
        f'\nfunc init() {{\n\ttext := {expression}\n\t{kept} = &text\n}}\n'
        f'\n//go:noinline\nfunc {name}() string {{\n'
        f'\tif {kept} != nil {{\n\t\treturn *{kept}\n\t}}\n\treturn {expression}\n}}\n'
    )


@dataclass(slots=True, kw_only=True)
class _Rewriter:
    """The search for rewrites of one file.

    texts  the function that stands for each string, and the expression that puts it together
    """

    draw: Random
    names: _Support
    texts: list[tuple[str, str]] = field(default_factory=list)
    types: dict[int, Mapping[str, str]] = field(default_factory=dict)

    def list_rewrites(self, span: Span, root: Node) -> Iterator[Rewrite]:
        """Yield the rewrites of a span, outer nodes first."""
        waiting = [root]
        while waiting:
            node = waiting.pop()
            if node.end_byte <= span[0] or node.start_byte >= span[1] or node.type in _LEFT_OUT:
                continue
            swapped = None
            if span[0] <= node.start_byte and node.end_byte <= span[1]:
                swapped = self._swap_operands(node)
                if swapped is None:
                    yield from self._rewrite_node(node)
                else:
                    yield from (*self._rewrite_condition(node), swapped)
            if swapped is None:
                waiting += reversed(node.named_children)

    def _rewrite_node(self, node: Node) -> Iterator[Rewrite]:
        match node.type:
            case 'statement_list':
                statements = [child for child in node.named_children if child.type != 'comment']
                yield from swap_neighbours(statements, _find_literal_target)
            case 'binary_expression':
                rewrites = (*self._rewrite_condition(node), *self._wrap_result_in_function(node))
                yield from rewrites or (_put_in_brackets(node),)
            case _ if node.type in _LITERALS:
                written = self._make_equal_expression(node)
                if written is not None:
                    is_text = node.type == 'interpreted_string_literal'
                    yield rewrite_literal(node, written, is_text=is_text)

    # -- literals ----------------------------------------------------------------------------------

    def _make_equal_expression(self, literal: Node) -> bytes | None:
        """Return an expression of the type and value of a literal; None if its type is unknown."""
        type_ = self._find_type(literal)
        text = get_text(literal)
        match literal.type:
            case 'int_literal' if type_ in _INTEGERS:
                return self._make_integer_expression(text, type_)
            case 'int_literal' if text.startswith('0') and text != '0':
                return None  # may be octal
            case 'int_literal' | 'float_literal' if type_ == 'float64':
                return self._make_float_expression(text)
            case 'interpreted_string_literal' if type_ == 'string':
                return self._make_joined_string_expression(text)
        return None

    def _make_integer_expression(self, text: str, type_: str) -> bytes | None:
        try:
            value = int(text, 0)
        except ValueError:
            return None  # octal in the older way
        is_small = type_ in _SMALL
        if value > (_MOST_SMALL if is_small else _MOST):
            return None
        names = self.names
        name, shift = (
            (names.small_name, names.small) if is_small else (names.large_name, names.large)
        )
        written = f'{name}()' if type_ == 'int' else f'{type_}({name}())'
        return f'({value ^ shift} ^ {written})'.encode()

    def _make_float_expression(self, text: str) -> bytes | None:
        try:
            value = float(text.replace('_', ''))
        except ValueError:
            return None
        return f'({value / 2!r} * {self.names.two}())'.encode() if 1e-30 < value < 1e30 else None

    def _make_joined_string_expression(self, text: str) -> bytes | None:
        content = text[1:-1]
        if '\\' in content or len(content) < 2:
            return None
        at = self.draw.randint(1, len(content) - 1)
        name = invent_name(self.draw, 'p')
        self.texts.append((name, f'{self.names.join}("{content[:at]}", "{content[at:]}")'))
        return f'{name}()'.encode()

    def _find_type(self, literal: Node) -> str | None:
        """Return the basic type that a literal has by what is around it, or None."""
        node, parent = literal, literal.parent
        while parent is not None and parent.type in (
            'parenthesized_expression',
            'unary_expression',
        ):
            node, parent = parent, parent.parent
        if parent is None:
            return None
        if parent.type == 'binary_expression':
            return self._find_type_beside(node, parent)
        if parent.type != 'expression_list' or parent.parent is None:
            return None
        index, statement = parent.named_children.index(node), parent.parent
        match statement.type:
            case 'short_var_declaration' if statement.child_by_field_name('right') == parent:
                # of several variables, one may be there already and have another type
                return _LITERALS[literal.type] if len(parent.named_children) == 1 else None
            case 'assignment_statement' if statement.child_by_field_name('right') == parent:
                left = statement.child_by_field_name('left')
                targets = left.named_children if left is not None else []
                return self._find_operand_type(targets[index]) if index < len(targets) else None
            case 'return_statement':
                results = _list_result_types(find_enclosing_function(statement))
                is_whole = len(results) == len(parent.named_children)
                return results[index] if is_whole else None
        return None

    def _find_type_beside(self, operand: Node, binary: Node) -> str | None:
        operator = binary.child_by_field_name('operator')
        if operator is None or operator.type not in _TYPED:
            return None
        sides = [binary.child_by_field_name(name) for name in ('left', 'right')]
        other = next((side for side in sides if side is not None and side != operand), None)
        return None if other is None else self._find_operand_type(other)

    def _find_operand_type(self, node: Node) -> str | None:
        outer = find_enclosing_function(node, outermost=True)
        if outer is None:
            return None
        if outer.id not in self.types:
            self.types[outer.id] = _find_local_types(outer)
        return _infer_type(node, self.types[outer.id])

    # -- operators, conditions and helpers ---------------------------------------------------------

    def _swap_operands(self, node: Node) -> Rewrite | None:
        """Swap a variable and a literal around a comparison, or draw not to."""
        if node.type != 'binary_expression':
            return None
        left, right = (node.child_by_field_name(name) for name in ('left', 'right'))
        operator = node.child_by_field_name('operator')
        if left is None or right is None or operator is None:
            return None
        mirrored = _MIRRORED.get(operator.text or b'')
        kinds = {left.type, right.type}
        if mirrored is None or 'identifier' not in kinds or not kinds & _LITERALS.keys():
            return None
        literal = left if left.type in _LITERALS else right
        if self.draw.random() < 0.5 and self._make_equal_expression(literal) is not None:
            return None  # the literal is rewritten by itself
        return Rewrite(
            kind=RewriteKind.OPERATOR,
            pieces=mirror_literal(
                left, operator, right, mirrored, self._get_equal_expression_or_text
            ),
        )

    def _get_equal_expression_or_text(self, literal: Node) -> bytes:
        computed = self._make_equal_expression(literal)
        return computed if computed is not None else literal.text or b''

    def _rewrite_condition(self, node: Node) -> Iterator[Rewrite]:
        """Compare a comparison, whose result has no type yet, with the false of a function."""
        operator = node.child_by_field_name('operator')
        if operator is None or operator.type not in _COMPARISONS:
            return
        pieces = self.draw.choice(
            (
                wrap(node, b'((', f') != {self.names.no}())'.encode()),
                wrap(node, b'(!(', f') == {self.names.no}())'.encode()),
            )
        )
        yield Rewrite(kind=RewriteKind.CONDITION, pieces=pieces)

    def _wrap_result_in_function(self, node: Node) -> Iterator[Rewrite]:
        """Let a function of its own compute the one result of a basic type."""
        parent, statement = node.parent, node.parent.parent if node.parent is not None else None
        if parent is None or statement is None or statement.type != 'return_statement':
            return
        function = find_enclosing_function(statement)
        results = _list_result_types(function)
        inside = list(walk_named_nodes(node))
        operators = {
            operator.type
            for inner in inside
            if (operator := inner.child_by_field_name('operator')) is not None
        }
        is_safe = operators <= {'+', '-', '*', '&', '|', '^'} and not any(
            inner.type in _CALLED for inner in inside
        )
        if is_safe and len(results) == len(parent.named_children) == 1 and results[0] in _BASIC:
            before = f'func() {results[0]} {{ return '.encode()
            yield Rewrite(
                kind=RewriteKind.HELPER,
                pieces=wrap(node, before, b' }()'),
            )


def _put_in_brackets(node: Node) -> Rewrite:
    """Put an operation in brackets, which only those see who read the text."""
    pieces = wrap(node, b'(', b')')
    return Rewrite(kind=RewriteKind.OPERATOR, pieces=pieces)


def _list_result_types(function: Node | None) -> list[str]:
    """Return the types of a function's results; empty if one is not a plain name."""
    result = function.child_by_field_name('result') if function is not None else None
    if result is None:
        return []
    if result.type == 'type_identifier':
        return [get_text(result)]
    types: list[str] = []
    for parameter in result.named_children if result.type == 'parameter_list' else []:
        type_ = parameter.child_by_field_name('type')
        names = parameter.children_by_field_name('name')
        types += [get_text(type_) if type_ is not None else ''] * max(1, len(names))
    return types


def _find_local_types(function: Node) -> Mapping[str, str]:
    """Return the basic type of each variable that a function declares exactly once."""
    nodes = list(walk_named_nodes(function))
    declared: Counter[str] = count_declarations_by_name(nodes)
    types: dict[str, str] = {}
    for node in nodes:
        if node.type in ('parameter_declaration', 'var_spec'):
            type_ = node.child_by_field_name('type')
            for name in node.children_by_field_name('name'):
                if type_ is not None:
                    types[get_text(name)] = get_text(type_)
        elif node.type == 'short_var_declaration':
            left, right = (node.child_by_field_name(side) for side in ('left', 'right'))
            if left is None or right is None or len(left.named_children) != 1:
                continue
            known = {name: type_ for name, type_ in types.items() if declared[name] == 1}
            value = right.named_children[0]
            inferred = _LITERALS.get(value.type) or _infer_type(value, known)
            if inferred is not None:
                types[get_text(left)] = inferred
    return {name: type_ for name, type_ in types.items() if declared[name] == 1 and type_ in _BASIC}


def _infer_type(node: Node, types: Mapping[str, str]) -> str | None:
    """Return the basic type of an expression of variables whose types are known, or None."""
    match node.type:
        case 'identifier':
            return types.get(get_text(node))
        case 'parenthesized_expression':
            return _infer_type(node.named_children[0], types)
        case 'call_expression':
            function = node.child_by_field_name('function')
            name = b'' if function is None else function.text or b''
            return 'int' if name in (b'len', b'cap') else None
        case 'binary_expression':
            operator = node.child_by_field_name('operator')
            if operator is None or operator.type not in _ARITHMETIC:
                return None
            sides = (node.child_by_field_name(side) for side in ('left', 'right'))
            known = (_infer_type(side, types) for side in sides if side is not None)
            return next(filter(None, known), None)
    return None


def _find_literal_target(statement: Node) -> str | None:
    """Return the variable that a statement of one line declares with a literal, or None."""
    if statement.type != 'short_var_declaration':
        return None
    left, right = (statement.child_by_field_name(side) for side in ('left', 'right'))
    if left is None or right is None or len(left.named_children) != 1:
        return None
    is_literal = [value.type in _LITERALS for value in right.named_children] == [True]
    one_line = statement.start_point.row == statement.end_point.row
    return get_text(left) if is_literal and one_line else None
