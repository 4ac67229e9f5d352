"""Traces from what a test process told of its functions and lines.

A method is executed if it was entered: `type` is the module's name as its path has it, `method` the
qualified name in it. A line counts as one instruction; branches are not told.
"""

from __future__ import annotations

from collections.abc import Collection
from collections.abc import Iterator
from typing import Any

from coevo.languages.python.events import HeardTarget
from coevo.languages.python.reading.places import module_name
from coevo.languages.traces import CoveredLine
from coevo.languages.traces import ExecutedMethod
from coevo.languages.traces import Trace
from coevo.model.records import Outcome


def read_trace(heard: HeardTarget, files: Collection[str], tests: Collection[str]) -> Trace | None:
    """What a target executed of the code; None for one that did not pass to its end.

    files  those whose lines are wanted
    tests  those that are none of the code's
    """
    if not heard.ended or not heard.tests or not heard.traces:
        return None
    if any(test.outcome is not Outcome.PASS for test in heard.tests):
        return None
    # Two lambdas may begin in one line; there the longer one stands for both.
    every = sorted((m for event in heard.traces for m in _methods(event)), key=_order)
    found = {(m.type, m.method, m.descriptor): m for m in every}.values()
    executed = [method for method in found if method.file not in tests]
    lines = {path: line for event in heard.traces for path, line in _lines(event)}
    return Trace(
        executed=tuple(sorted(executed, key=_order)),
        lines={path: lines.get(path, ()) for path in sorted(files)},
    )


def _order(method: ExecutedMethod) -> tuple[str, int, str, int]:
    return method.file or '', method.first_line, method.method, method.last_line


def _methods(event: dict[str, Any]) -> Iterator[ExecutedMethod]:
    """What is not of the shape that the worker writes is left out."""
    rows = event.get('functions')
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str() as file, str() as name, int() as first, int() as last]:
                yield ExecutedMethod(
                    type=module_name(file),
                    method=name,
                    descriptor=str(first),  # a getter and its setter have one name
                    file=file,
                    first_line=first,
                    last_line=last,
                )


def _lines(event: dict[str, Any]) -> Iterator[tuple[str, tuple[CoveredLine, ...]]]:
    file, known, hit = event.get('file'), event.get('known'), event.get('hit')
    if isinstance(file, str) and isinstance(known, list) and isinstance(hit, list):
        numbers = sorted({line for line in known if type(line) is int and line > 0})
        seen = {line for line in hit if type(line) is int}
        yield file, tuple(_line(line, hit=line in seen) for line in numbers)


def _line(line: int, *, hit: bool) -> CoveredLine:
    return CoveredLine(
        line=line,
        missed_instructions=int(not hit),
        covered_instructions=int(hit),
        missed_branches=0,
        covered_branches=0,
    )
