"""What a test method executed of the code, as its language's engine recorded it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredLine:
    """A line of a source file: instructions and branches, missed and covered, as coverage tools count."""

    line: int
    missed_instructions: int
    covered_instructions: int
    missed_branches: int
    covered_branches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedMethod:
    """A method of the code of which a test executed at least one instruction.

    type    binary name of its class
    method  as the class file has it: `<init>`, `<clinit>`, `lambda$f$0`
    file    repository path of its source, None where the tree has none
    lines   first and last line with code of its own, 0 without debug information
    """

    type: str
    method: str
    descriptor: str
    file: str | None
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one test method executed of the code; `executed` is sorted.

    lines    by repository path, every line that is known of the files that were asked for
    reached  watched lines that were reached, by top-level type; None where none were watched
    """

    executed: tuple[ExecutedMethod, ...]
    lines: Mapping[str, tuple[CoveredLine, ...]]
    reached: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Traced:
    """A trace for each method, None for one that did not run to its end."""

    traces: tuple[Trace | None, ...]
    cpu_seconds: float
