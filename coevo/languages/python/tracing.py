"""Traces from what a test process told of its functions, lines and branches.

A method is executed if it was entered: `type` is the module's name as its path has it, `method` the
qualified name in it. Lines and branches are coverage.py's (https://coverage.readthedocs.io/en/latest/branch.html): a statement is one
instruction of its first line, a branch one of several lines that may come next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field
from typing import Any

from coevo.languages.python.events import HeardTarget
from coevo.languages.python.reading.places import module_name
from coevo.languages.traces import CoveredLine
from coevo.languages.traces import ExecutedMethod
from coevo.languages.traces import Trace
from coevo.model.words import Outcome


def read_trace(heard: HeardTarget, files: Collection[str], tests: Collection[str]) -> Trace | None:
    """What a target executed of the code; None for one that did not pass to its end.

    files  those whose lines are wanted
    tests  those that are none of the code's
    """
    own = [event for event in heard.traces if 'loaded' not in event]
    return _read([own], files, tests) if _has_passed(heard) else None


def read_together(
    heard: Iterable[HeardTarget], files: Collection[str], tests: Collection[str]
) -> Trace | None:
    """What those targets executed that passed to their end, each branch once; None if none did.

    Lines that ran while files were loaded count, as they do for coverage.py: a suite without its
    imports is none, and nothing else executes them.
    """
    told = [one.traces for one in heard if _has_passed(one)]
    return _read(told, files, tests) if told else None


def _read(
    told: Sequence[Sequence[dict[str, Any]]], files: Collection[str], tests: Collection[str]
) -> Trace:
    # Two lambdas may begin in one line; there the longer one stands for both.
    every = sorted((m for events in told for event in events for m in _methods(event)), key=_order)
    found = {(m.type, m.method, m.descriptor): m for m in every}.values()
    executed = [method for method in found if method.file not in tests]
    counts = {path: _Counts() for path in sorted(files)}
    for events in told:
        for event in events:
            if event.get('file') in counts:
                counts[event['file']].add(event)
    return Trace(
        executed=tuple(sorted(executed, key=_order)),
        lines={path: tuple(one.lines()) for path, one in counts.items()},
    )


def _has_passed(heard: HeardTarget) -> bool:
    passed = all(test.outcome is Outcome.PASS for test in heard.tests)
    return heard.ended and bool(heard.tests) and bool(heard.traces) and passed


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


@dataclass(slots=True, kw_only=True)
class _Counts:
    """Of one file, by what one or several tests told.

    exits   of lines that have several, how many
    missed  lines of which that many were not taken: from where, to where; None before anything was told
    """

    known: set[int] = field(default_factory=set)
    hit: set[int] = field(default_factory=set)
    exits: dict[int, int] = field(default_factory=dict)
    missed: set[tuple[int, int]] | None = None

    def add(self, event: dict[str, Any]) -> None:
        """What is not of the shape that the worker writes is left out."""
        if 'loaded' in event:  # lines alone
            self.hit |= set(_numbers(event['loaded']))
            return
        self.known |= {line for line in _numbers(event.get('known')) if line > 0}
        self.hit |= set(_numbers(event.get('hit')))
        self.exits |= dict(_pairs(event.get('exits')))
        missed = set(_pairs(event.get('missed')))
        self.missed = missed if self.missed is None else self.missed & missed

    def lines(self) -> Iterator[CoveredLine]:
        missed = Counter(line for line, _ in self.missed or ())
        for line in sorted(self.known):
            hit, exits = line in self.hit, max(0, self.exits.get(line, 0))
            taken = max(0, exits - missed[line]) if hit else 0
            yield CoveredLine(
                line=line,
                missed_instructions=int(not hit),
                covered_instructions=int(hit),
                missed_branches=exits - taken,
                covered_branches=taken,
            )


def _numbers(values: object) -> Sequence[int]:
    return [one for one in values if type(one) is int] if isinstance(values, list) else []


def _pairs(rows: object) -> Iterator[tuple[int, int]]:
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [int() as one, int() as other]:
                yield one, other
