"""Make traces from the functions, lines and branches that a test process reported.

A method is executed if it was entered: `type` is the module's name from its path, `method` the
qualified name in it. Lines and branches are coverage.py's
(https://coverage.readthedocs.io/en/latest/branch.html): a statement is one instruction of its first
line, a branch is one of several possible next lines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coevo.languages.core.channel import TargetReport
from coevo.languages.python.reading.module_paths import derive_module_name
from coevo.languages.verdicts import CoveredLine, ExecutedMethod, Trace


def make_trace(heard: TargetReport, files: Collection[str], tests: Collection[str]) -> Trace | None:
    """Return the code that a target executed; None unless it passed completely and was traced.

    files  the files whose lines are requested
    tests  the paths that do not belong to the code: their functions are left out
    """
    own = [event for event in heard.recordings if 'loaded' not in event]
    return _build_trace([own], files, tests) if _has_passed(heard) else None


def make_joint_trace(
    heard: Iterable[TargetReport], files: Collection[str], tests: Collection[str]
) -> Trace | None:
    """Return the code that all passing targets executed together; None if none passed.

    Each branch counts once. Lines that run while files are loaded count, as they do for
    coverage.py: they belong to the suite, and nothing else executes them.
    """
    event_lists = [report.recordings for report in heard if _has_passed(report)]
    return _build_trace(event_lists, files, tests) if event_lists else None


def _build_trace(
    told: Sequence[Sequence[dict[str, Any]]], files: Collection[str], tests: Collection[str]
) -> Trace:
    # Two lambdas may begin in one line; the longer one then represents both.
    every = sorted(
        (m for events in told for event in events for m in _parse_methods(event)), key=_get_sort_key
    )
    methods = {(m.type, m.method, m.descriptor): m for m in every}.values()
    executed = [method for method in methods if method.file not in tests]
    counts = {path: _LineCounts() for path in sorted(files)}
    for events in told:
        for event in events:
            if event.get('file') in counts:
                counts[event['file']].add_event(event)
    return Trace(
        executed=tuple(sorted(executed, key=_get_sort_key)),
        lines={
            path: tuple(file_counts.make_covered_lines()) for path, file_counts in counts.items()
        },
    )


def _has_passed(heard: TargetReport) -> bool:
    return heard.has_passed and bool(heard.recordings)


def _get_sort_key(method: ExecutedMethod) -> tuple[str, int, str, int]:
    return method.file or '', method.first_line, method.method, method.last_line


def _parse_methods(event: dict[str, Any]) -> Iterator[ExecutedMethod]:
    """Yield the methods of an event; rows of another shape than the worker's are ignored."""
    rows = event.get('functions')
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str() as file, str() as name, int() as first, int() as last]:
                yield ExecutedMethod(
                    type=derive_module_name(file),
                    method=name,
                    descriptor=str(first),  # distinguishes a getter from its setter
                    file=file,
                    first_line=first,
                    last_line=last,
                )


@dataclass(slots=True, kw_only=True)
class _LineCounts:
    """The counts of one file, from one or several tests.

    exits   number of exits of each line that has several
    missed  exits that no test took: from which line, to which line; None before the first event
    """

    known: set[int] = field(default_factory=set)
    hit: set[int] = field(default_factory=set)
    exits: dict[int, int] = field(default_factory=dict)
    missed: set[tuple[int, int]] | None = None

    def add_event(self, event: dict[str, Any]) -> None:
        """Add an event; values of another shape than the worker's are ignored."""
        if 'loaded' in event:  # has no branches
            self.hit |= set(_filter_numbers(event['loaded']))
            return
        self.known |= {line for line in _filter_numbers(event.get('known')) if line > 0}
        self.hit |= set(_filter_numbers(event.get('hit')))
        self.exits |= dict(_parse_pairs(event.get('exits')))
        missed = set(_parse_pairs(event.get('missed')))
        self.missed = missed if self.missed is None else self.missed & missed

    def make_covered_lines(self) -> Iterator[CoveredLine]:
        """Yield each known line with its covered and missed branches."""
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


def _filter_numbers(values: object) -> Sequence[int]:
    return [number for number in values if type(number) is int] if isinstance(values, list) else []


def _parse_pairs(rows: object) -> Iterator[tuple[int, int]]:
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [int() as one, int() as other]:
                yield one, other


def select_watched_lines(
    reached: Mapping[str, frozenset[int]], watched: Mapping[str, Collection[int]]
) -> dict[str, frozenset[int]]:
    """Return, by module name, those watched lines that were executed.

    reached  executed lines by path
    watched  lines by module name
    """
    lines_by_module = {name: frozenset[int]() for name in watched}
    for path, lines in reached.items():
        name = derive_module_name(path)
        lines_by_module[name] |= lines.intersection(watched[name])
    return lines_by_module
