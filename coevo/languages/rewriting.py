"""Equal programs: code whose expressions, conditions and names are written otherwise.

A rewrite changes constants, operators, conditions or names of a program and provably nothing that
the program does. A language lists the rewrites of some spans of a file; all or one of them are
applied. See `coevo.measures.placebos` for what they are good for.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from random import Random
from typing import Protocol

from tree_sitter import Node

from coevo.languages.spans import Span


class RewriteKind(StrEnum):
    """The part of a program that a rewrite writes otherwise."""

    NUMBER = 'number'  # a number is computed
    TEXT = 'text'  # a string is put together
    CONDITION = 'condition'  # a condition is asked the other way round
    OPERATOR = 'operator'  # an operator becomes a call, or changes the order of its operands
    HELPER = 'helper'  # a small function stands for an expression
    LOCAL = 'local'  # a local variable has another name
    ORDER = 'order'  # two independent statements change places


class PieceRole(IntEnum):
    """The order of pieces at one offset."""

    CLOSE = 0  # ends the text around a node, inner nodes first
    STATEMENT = 1  # stands before a statement
    OPEN = 2  # begins the text around a node, outer nodes first
    REPLACE = 3  # replaces the text of a node


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A text to put in place of a span, or to insert where the span is empty."""

    start: int
    end: int
    text: bytes
    role: PieceRole


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """Pieces that belong together. Outer nodes come before the nodes inside them."""

    kind: RewriteKind
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrites:
    """The rewrites of some spans of a file, and the pieces that any of them may need."""

    rewrites: tuple[Rewrite, ...] = ()
    support: tuple[Piece, ...] = ()


class ProgramRewriter(Protocol):
    """A module beside a language's surgery that rewrites code without changing what it does."""

    def list_rewrites(self, source: bytes, spans: Sequence[Span], draw: Random) -> Rewrites:
        """Return the rewrites of all nodes in some spans of a file, in a form that `draw` chooses.

        Lines keep their numbers. Empty if the file has a syntax error, or nothing in the spans can
        be rewritten with certainty.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionSpan:
    """The span of a function in a version of its file."""

    source: bytes
    span: Span


class IdleCopying(Protocol):
    """A module beside a language's surgery that puts other code into a function, never to run."""

    def list_idle_copy(
        self, place: VersionSpan, copied: VersionSpan, draw: Random
    ) -> tuple[Piece, ...]:
        """Return the pieces that put the body of another version of a function into a function.

        Lines behind it move. Empty if it could change what the function does or what reflection
        lists. Whether it compiles is not known.
        """


def walk_named_nodes(node: Node) -> Iterator[Node]:
    """Yield a node and all named nodes inside it, in the order of the text."""
    waiting = [node]
    while waiting:
        at = waiting.pop()
        yield at
        waiting += reversed(at.named_children)


def get_text(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b'').decode()


def wrap(node: Node, before: bytes, after: bytes) -> tuple[Piece, Piece]:
    """Return the pieces that put texts before and after a node."""
    start, end = node.start_byte, node.end_byte
    return (
        Piece(start=start, end=start, text=before, role=PieceRole.OPEN),
        Piece(start=end, end=end, text=after, role=PieceRole.CLOSE),
    )


def replace_text(node: Node, text: bytes) -> Piece:
    """Return the piece that puts a text in place of a node."""
    return Piece(start=node.start_byte, end=node.end_byte, text=text, role=PieceRole.REPLACE)


def rewrite_literal(literal: Node, text: bytes, *, is_text: bool) -> Rewrite:
    """Return the rewrite that computes a literal.

    is_text  whether it is a string, not a number
    """
    kind = RewriteKind.TEXT if is_text else RewriteKind.NUMBER
    return Rewrite(kind=kind, pieces=(replace_text(literal, text),))


def swap_neighbours(
    statements: Sequence[Node], find_target: Callable[[Node], str | None]
) -> Iterator[Rewrite]:
    """Yield the rewrites that let two statements change places that stand next to each other.

    find_target  returns the variable to which a statement gives a literal; None for any other
                 statement, and for one that has to stay
    """
    index = 0
    while index + 1 < len(statements):
        first, second = statements[index : index + 2]
        names = find_target(first), find_target(second)
        if None not in names and names[0] != names[1]:
            yield Rewrite(
                kind=RewriteKind.ORDER,
                pieces=(
                    replace_text(first, second.text or b''),
                    replace_text(second, first.text or b''),
                ),
            )
            index += 1
        index += 1


def rename(uses: Iterable[Node], name: str) -> Rewrite:
    """Return the rewrite that gives a local variable another name at all of its uses."""
    text = name.encode()
    return Rewrite(kind=RewriteKind.LOCAL, pieces=tuple(replace_text(use, text) for use in uses))


def mirror_literal(
    left: Node, operator: Node, right: Node, mirrored: bytes, write: Callable[[Node], bytes]
) -> tuple[Piece, ...]:
    """Return the pieces that put a literal on the other side of an operator and a variable.

    The variable stays where it is, so that it can be renamed as well.

    mirrored  the operator for operands in the other order
    write     writes the literal
    """
    is_first = left.type != 'identifier'
    literal, variable = (left, right) if is_first else (right, left)
    before = b'' if is_first else b'%b %b ' % (write(literal), mirrored)
    after = b' %b %b' % (mirrored, write(literal)) if is_first else b''
    return (
        *wrap(variable, before, after),
        replace_text(literal, b''),
        replace_text(operator, b''),
    )


def invent_name(draw: Random, prefix: str = '_') -> str:
    """Return a random name of a variable that is unlikely to occur in any code."""
    return prefix + ''.join(draw.choices(string.ascii_lowercase, k=10))


def apply_rewrites(
    source: bytes, rewrites: Sequence[Rewrite], draw: Random, others: Iterable[Piece] = ()
) -> bytes:
    """Return a file with rewrites and other pieces.

    Where statements would change places and be rewritten as well, `draw` decides between the two.

    rewrites  with outer nodes before the nodes inside them; all but those of the kind ORDER replace
              single tokens alone
    """
    chosen = _drop_overlapping(rewrites, draw)
    pieces = [
        *((piece, 0) for piece in others),
        *((piece, index) for index, rewrite in enumerate(chosen) for piece in rewrite.pieces),
    ]
    text, last = [], 0
    for piece, _ in sorted(pieces, key=_make_sort_key):
        text += [source[last : piece.start], piece.text]
        last = piece.end
    return b''.join([*text, source[last:]])


def _make_sort_key(indexed: tuple[Piece, int]) -> tuple[int, int, int]:
    piece, index = indexed
    return piece.start, piece.role, -index if piece.role is PieceRole.CLOSE else index


def _drop_overlapping(rewrites: Sequence[Rewrite], draw: Random) -> list[Rewrite]:
    swaps = [rewrite for rewrite in rewrites if rewrite.kind is RewriteKind.ORDER]
    others = [rewrite for rewrite in rewrites if rewrite.kind is not RewriteKind.ORDER]
    chosen = [
        swap
        for swap in swaps
        if not any(_overlaps_swap(other, [swap]) for other in others) or draw.random() < 0.5
    ]
    return [*(other for other in others if not _overlaps_swap(other, chosen)), *chosen]


def _overlaps_swap(rewrite: Rewrite, swaps: Sequence[Rewrite]) -> bool:
    """Return whether a piece of a rewrite lies inside a statement that changes places."""
    spans = [(piece.start, piece.end) for swap in swaps for piece in swap.pieces]
    return any(_lies_inside(piece, spans) for piece in rewrite.pieces)


def _lies_inside(piece: Piece, spans: Iterable[Span]) -> bool:
    return any(start <= piece.start and piece.end <= end for start, end in spans)
