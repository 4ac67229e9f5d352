"""The text of a piece moved to where lines begin with other white space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from coevo.languages.spans import Span


def reindent(
    text: bytes, before: bytes, after: bytes, start: int, strings: Iterable[Span]
) -> bytes:
    """A text whose lines but the first began with some white space, with other white space there.

    start    where the text stood in its file
    strings  where in that file there are strings of several lines: what is in them stays as it is
    """
    if before == after:
        return text
    string_spans = list(strings)
    lines, at = [], start
    for number, line in enumerate(text.splitlines(keepends=True)):
        inner = any(first < at < last for first, last in string_spans)
        if number and not inner and line.startswith(before) and line.strip():
            line = after + line[len(before) :]
        lines.append(line)
        at += len(line)
    return b''.join(lines)


def find_long_strings(root: Node) -> Iterator[Span]:
    """The strings of a file that have several lines."""
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.type == 'string' and node.start_point.row != node.end_point.row:
            yield node.start_byte, node.end_byte
        elif cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def count_empty_lines_above(source: bytes, at: int) -> int:
    """How many empty lines stand above a line; three are as good as two."""
    above = source[: source.rfind(b'\n', 0, at) + 1].replace(b'\r', b'')
    lines = above.split(b'\n')[:-1]
    count = 0
    while count < 2 and count < len(lines) and not lines[-1 - count].strip():
        count += 1
    return count
