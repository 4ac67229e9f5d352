"""Mutants of source files: a Protocol for mutators of lines, the lines that only document, and
programs that make their own mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Protocol

from tree_sitter import Node

from coevo.model.listener import Say
from coevo.model.quality import PitTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A replacement for one line. `line` is 1-based; the texts do not include the end of the line.

    `mutated` may consist of two lines.
    """

    line: int
    original: str
    mutated: str

    def apply_to(self, source: bytes) -> bytes:
        """Return the content of the whole file with the line replaced; its line ending is kept."""
        own = source.split(b'\n')
        end = b'\r' if own[self.line - 1].endswith(b'\r') else b''
        encoding = choose_encoding(source)
        own[self.line - 1] = b'\n'.join(
            text.encode(encoding) + end for text in self.mutated.split('\n')
        )
        return b'\n'.join(own)


class MutationTimeout(Exception):
    """The tool did not finish a file in time."""


class SourceMutation(Protocol):
    """A tool that makes mutants by rewriting text; it neither compiles nor runs them."""

    def is_installed(self) -> bool:
        """Return whether the tool can be run on this machine."""

    def make_mutants(self, source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
        """Return all mutants of some lines of a file, always in the same order.

        Raises:
            MutationTimeout: the tool did not finish in time.
            Fatal: the tool is not installed.
        """


def choose_encoding(source: bytes) -> str:
    """Return an encoding that decodes and encodes the source without changing any byte."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return 'latin-1'
    return 'utf-8'


def find_documenting_lines(
    source: bytes, root: Node, documents: Callable[[Node], bool]
) -> frozenset[int]:
    """Return the 1-based lines that are filled by nodes for which `documents` returns True.

    A line that also contains code does not count.
    """
    lines: set[int] = set()
    for node in _find_documenting_nodes(root, documents):
        if _fills_whole_lines(source, node):
            lines |= set(range(node.start_point.row + 1, node.end_point.row + 2))
    return frozenset(lines)


def is_comment(node: Node) -> bool:
    """Return whether a node is a comment, in the grammars of all supported languages."""
    return node.type.endswith('comment')


def _find_documenting_nodes(root: Node, documents: Callable[[Node], bool]) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if documents(node):
            yield node
        else:
            waiting += node.named_children


def _fills_whole_lines(source: bytes, node: Node) -> bool:
    before = source[source.rfind(b'\n', 0, node.start_byte) + 1 : node.start_byte]
    after = source[node.end_byte :].partition(b'\n')[0]
    return not before.strip() and not after.strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCodeMutant:
    """A mutant made by PIT, with its result under one test.

    All fields but `killed` are the same for every test of the same class files.

    type    the binary name of its class
    method  the name in the class file
    index   the position among the instructions of the method
    killed  whether the test noticed the mutant; None if PIT could not run it
    """

    type: str
    method: str
    descriptor: str
    line: int
    mutator: str
    index: str
    killed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCodeMutants:
    """The mutants of some lines with their results, or the reason why there are none.

    trouble  the kind of the reason; None if PIT ran
    said     PIT's explanation of the trouble
    """

    mutants: tuple[ByteCodeMutant, ...] = ()
    trouble: PitTrouble | None = None
    said: str = ''
    cpu_seconds: float = 0.0


class MutationTool(Protocol):
    """The tool by which pairs of a language `mutate`: its version, and its installation."""

    def find_version(self) -> str:
        """Return the version, such as 1.30.0; each version makes other mutants."""

    def fetch(self, say: Say) -> object:
        """Install the tool on this machine before it is needed.

        Raises:
            Transient: it cannot be downloaded now.
        """
