"""Mutants of source files: one line is another. What a language that offers them has to answer."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """A line that is another; `line` is 1-based, texts are without the line's end.

    What replaces the line may be two lines.
    """

    line: int
    original: str
    mutated: str

    def apply_to(self, source: bytes) -> bytes:
        """The whole file with the line replaced."""
        own = source.split(b'\n')
        end = b'\r' if own[self.line - 1].endswith(b'\r') else b''
        encoding = choose_encoding(source)
        own[self.line - 1] = b'\n'.join(
            text.encode(encoding) + end for text in self.mutated.split('\n')
        )
        return b'\n'.join(own)


class MutationTimeout(Exception):
    """A tool did not end in time for a file."""


class SourceMutation(Protocol):
    """A tool that rewrites text; what compiles, and which mutants count, others say."""

    def is_installed(self) -> bool: ...

    def make_mutants(self, source: bytes, lines: Collection[int]) -> tuple[Mutant, ...]:
        """All mutants of some lines of a file, in an order that is always the same.

        OutOfTime where the tool does not end; Fatal where it is not installed.
        """


def choose_encoding(source: bytes) -> str:
    """One that gives back the same bytes, whatever they are."""
    try:
        source.decode()
    except UnicodeDecodeError:
        return 'latin-1'
    return 'utf-8'
