"""The code that test methods executed, as the engine of their language recorded it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredLine:
    """A line of a source file, with its missed and covered instructions and branches.

    For tools that count statements, each statement is one instruction of its first line.
    """

    line: int
    missed_instructions: int
    covered_instructions: int
    missed_branches: int = 0
    covered_branches: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedMethod:
    """A method of the code of which a test executed at least one instruction.

    type        the binary name of its class
    method      the name in the class file: `<init>`, `<clinit>`, `lambda$f$0`
    file        the repository path of its source; None if the tree has none
    first_line  the first line with code of its own, 0 without debug information
    last_line   the last one
    """

    type: str
    method: str
    descriptor: str = ''
    file: str | None
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The code that one test method executed; `executed` is sorted.

    lines    all known lines of the requested files, by repository path
    reached  the watched lines that were executed, by the names of
             `LanguageReading.list_watch_names`; None if none were watched
    """

    executed: tuple[ExecutedMethod, ...]
    lines: Mapping[str, tuple[CoveredLine, ...]]
    reached: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBatch:
    """A trace for each method; None for a method that did not run to its end.

    together  what all methods with a trace executed, as if in one run; None if there are none or it
              was not requested
    """

    traces: tuple[Trace | None, ...]
    cpu_seconds: float
    together: Trace | None = None


def unite_traces(traces: Iterable[Trace | None]) -> Trace | None:
    """Return one trace of what several traces executed together; None if all are None.

    A line counts with its highest number of covered instructions. Branches are not united, so this
    suits engines that report lines without branches.
    """
    known = [trace for trace in traces if trace is not None]
    if not known:
        return None
    lines: dict[str, dict[int, CoveredLine]] = {}
    for trace in known:
        for path, covered_lines in trace.lines.items():
            own = lines.setdefault(path, {})
            for line in covered_lines:
                before = own.get(line.line)
                if before is None or before.covered_instructions < line.covered_instructions:
                    own[line.line] = line
    return Trace(
        executed=tuple(dict.fromkeys(method for trace in known for method in trace.executed)),
        lines={path: tuple(own[at] for at in sorted(own)) for path, own in lines.items()},
        reached=unite_reached_lines(known),
    )


def unite_reached_lines(traces: Iterable[Trace | None]) -> dict[str, frozenset[int]] | None:
    """Return the watched lines that any trace reached, by file name; None if none were watched."""
    known = [trace for trace in traces if trace is not None]
    reached_lines: dict[str, frozenset[int]] = {}
    for trace in known:
        for name, lines in (trace.reached or {}).items():
            reached_lines[name] = reached_lines.get(name, frozenset()) | lines
    return reached_lines if any(trace.reached is not None for trace in known) else None
