"""Mutants of source files in which one line is replaced, and a Protocol of tools that make them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol


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
