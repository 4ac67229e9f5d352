"""Find the syntax of a Python file that has no effect, and normalise literals, whose quotes
formatters change.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from tree_sitter import Node


@dataclass(slots=True)
class Frame:
    """A syntax node on the path from the root to the current one.

    field  the field of its parent that it is in, if any
    first  the index of its first token
    """

    node: Node
    kind: str
    field: str | None
    first: int
    silent: bool = False
    known: bool = False  # a function whose tokens are taken from another file


_CLOSING = frozenset({')', ']', '}'})
# A comma after the only element makes the tuple.
_TUPLES = frozenset({'tuple', 'tuple_pattern', 'subscript', 'expression_list', 'pattern_list'})
# Parentheses around these never change the meaning.
_ATOMS = frozenset(
    {
        *('identifier', 'attribute', 'call', 'subscript', 'string', 'concatenated_string'),
        *('list', 'dictionary', 'set', 'tuple', 'true', 'false', 'none', 'ellipsis'),
        *('parenthesized_expression', 'list_comprehension', 'dictionary_comprehension'),
        *('set_comprehension', 'generator_expression', 'integer', 'float'),
    }
)
# Inside these, an expression needs no parentheses of its own.
_WHOLE = frozenset(
    {
        *('expression_statement', 'assignment', 'augmented_assignment', 'return_statement'),
        *('if_statement', 'elif_clause', 'while_statement', 'for_statement', 'assert_statement'),
        *('raise_statement', 'with_item', 'except_clause', 'delete_statement', 'if_clause'),
        *('argument_list', 'keyword_argument', 'default_parameter', 'list', 'set', 'pair'),
        *('match_statement', 'yield', 'type', 'lambda', 'interpolation', 'print_statement'),
    }
)
_BARE_TUPLES = frozenset(
    {'assignment', 'return_statement', 'for_statement', 'expression_statement', 'subscript'}
)


def is_redundant(frame: Frame, stack: list[Frame]) -> bool:
    """Return whether a leaf, such as a comma or parenthesis, has no effect on the compiled code.

    stack  the nodes around it, the root first
    """
    if not stack:
        return False
    if frame.kind == ';':
        return True
    if frame.kind == ',':
        return _is_magic_comma(frame.node, stack[-1])
    if frame.kind in ('(', ')'):
        return _are_parentheses_redundant(stack)
    return False


def _is_magic_comma(comma: Node, parent: Frame) -> bool:
    following = comma.next_sibling
    while following is not None and following.type == 'comment':
        following = following.next_sibling
    if following is None or following.type not in _CLOSING:
        return False
    if parent.kind not in _TUPLES:
        return True
    return sum(child.type == ',' for child in parent.node.children) > 1


def _are_parentheses_redundant(stack: list[Frame]) -> bool:
    parent, above = stack[-1], stack[-2].kind if len(stack) > 1 else ''
    if parent.kind in ('with_clause', 'import_from_statement', 'future_import_statement'):
        return True
    if parent.kind == 'argument_list':
        return above == 'class_definition' and parent.node.named_child_count == 0
    if parent.kind in ('tuple', 'tuple_pattern'):
        return above in _BARE_TUPLES and parent.node.named_child_count > 0
    if parent.kind != 'parenthesized_expression':
        return False
    inner = next((c for c in parent.node.named_children if c.type != 'comment'), None)
    return inner is not None and (inner.type in _ATOMS or above in _WHOLE)


def is_docstring(statement: Node, stack: list[Frame]) -> bool:
    """Return whether an expression statement is the docstring of a module, class or function.

    stack  the nodes around it, the root first
    """
    if not stack or statement.named_child_count != 1:
        return False
    if statement.named_children[0].type not in ('string', 'concatenated_string'):
        return False
    parent = stack[-1]
    owner = stack[-2].kind if len(stack) > 1 else ''
    if parent.kind == 'block' and owner in ('function_definition', 'class_definition'):
        # tree-sitter puts a comment before the first statement beside the block, not into it.
        pass
    elif parent.kind != 'module':
        return False
    first = next((c for c in parent.node.named_children if c.type != 'comment'), None)
    return first is not None and first.id == statement.id


# Normalise Python literals: formatters such as black and ruff change quotes and letter case.
#
# Their rules: https://black.readthedocs.io/en/stable/the_black_code_style/current_style.html
# (strings, numeric literals), https://docs.astral.sh/ruff/formatter/black/ (implicit
# concatenation).

_LITERAL = re.compile(r"""([A-Za-z]*)('''|\"{3}|'|")(.*)\2\Z""", re.DOTALL)
_ESCAPE = re.compile(r'\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)', re.DOTALL)


def split_string_literal(text: str) -> tuple[str, str]:
    """Return the normalised prefix and content of a string literal: `R'a'` gives ('r', 'a').

    Escaped quotes are unescaped. Text that is not a string literal is returned as it is, with the
    prefix `?`.
    """
    match = _LITERAL.match(text)
    if match is None:
        return '?', text
    letters = normalise_prefix(match[1])
    return letters, normalise_content(match[3], letters)


def normalise_prefix(text: str) -> str:
    """Return the prefix of a string in lower case and sorted, without `u`, which has no effect."""
    return ''.join(sorted(text.lower().replace('u', '')))


def normalise_content(text: str, letters: str) -> str:
    """Return the content of a string with line feeds as line ends and, unless raw, equal escapes.

    letters  the normalised prefix
    """
    text = text.replace('\r\n', '\n')
    return text if 'r' in letters else _ESCAPE.sub(_normalise_escape, text)


def _normalise_escape(found: re.Match[str]) -> str:
    """Return an escape in ruff's form: hexadecimal digits in lower case, quotes unescaped."""
    text = found[1]
    return text if text in ('"', "'") else f'\\{text.lower() if len(text) > 1 else text}'


def make_string_token(letters: str, text: str) -> str:
    """Return the canonical token of a string; a raw one without a backslash equals a plain one.

    letters, text  as `split_string_literal` returns them
    """
    is_raw = '\\' in text
    return f"{letters if is_raw else letters.replace('r', '')}'{text}'"


def normalise_number(text: str) -> str:
    """Return a number in lower case without underscores."""
    return text.lower().replace('_', '')
