"""What a test method executed of the code, as its language's engine recorded it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredLine:
    """A line of a source file: instructions and branches, missed and covered, as coverage tools count.

    Where a tool counts statements, each is one instruction of its first line.
    """

    line: int
    missed_instructions: int
    covered_instructions: int
    missed_branches: int = 0
    covered_branches: int = 0


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
    descriptor: str = ''
    file: str | None
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """What one test method executed of the code; `executed` is sorted.

    lines    by repository path, every line that is known of the files that were asked for
    reached  watched lines that were reached, by what they are `watched_as`; None where none were watched
    """

    executed: tuple[ExecutedMethod, ...]
    lines: Mapping[str, tuple[CoveredLine, ...]]
    reached: Mapping[str, frozenset[int]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBatch:
    """A trace for each method, None for one that did not run to its end.

    together  what those executed that did, as of one run; None where none did, or nobody asked
    """

    traces: tuple[Trace | None, ...]
    cpu_seconds: float
    together: Trace | None = None


def unite_traces(traces: Iterable[Trace | None]) -> Trace | None:
    """What several executed, for engines that tell lines and no branches; None of none."""
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
    """What an observer saw reached in any of them; None where there was none."""
    known = [trace for trace in traces if trace is not None]
    reached_lines: dict[str, frozenset[int]] = {}
    for trace in known:
        for name, lines in (trace.reached or {}).items():
            reached_lines[name] = reached_lines.get(name, frozenset()) | lines
    return reached_lines if any(trace.reached is not None for trace in known) else None
