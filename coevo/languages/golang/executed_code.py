"""Reads which functions and lines of the code a test process executed."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from coevo.languages.traces import CoveredLine, ExecutedMethod, Trace

_RECEIVER = re.compile(r'\(\*?(\w+)\)\.')


def parse_trace(told: Iterable[dict[str, Any]], files: Collection[str]) -> Trace:
    """Return the executed functions, and the lines of some files, from the events of a process.

    Events of an unexpected form are skipped. A file without events has no lines.

    files  the source files whose lines are wanted
    """
    executed: set[ExecutedMethod] = set()
    lines: dict[str, tuple[CoveredLine, ...]] = dict.fromkeys(sorted(files), ())
    for event in told:
        file = event.get('file')
        if not isinstance(file, str):
            continue
        executed.update(_parse_functions(file, str(event.get('package')), event.get('functions')))
        if file in lines:
            lines[file] = tuple(_parse_lines(event.get('lines')))
    return Trace(executed=tuple(sorted(executed, key=_make_sort_key)), lines=lines)


def _make_sort_key(one: ExecutedMethod) -> tuple[str, int, str]:
    return one.file or '', one.first_line, one.method


def _name_owner(package: str, method: str) -> str:
    receiver = _RECEIVER.match(method)
    return f'{package}${receiver[1]}' if receiver else package


def _parse_functions(file: str, package: str, rows: object) -> Iterator[ExecutedMethod]:
    """Yield the executed functions; rows that coevo's program would not write are left out."""
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str() as name, int() as first, int() as last]:
                yield ExecutedMethod(
                    type=_name_owner(package, name),
                    method=name,
                    # A package may have several functions `init`, and two packages may have the
                    # same name.
                    descriptor=f'{file}:{first}',
                    file=file,
                    first_line=first,
                    last_line=last,
                )


def _parse_lines(rows: object) -> Iterator[CoveredLine]:
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [int() as line, int() as known, int() as hit] if 0 <= hit <= known:
                yield CoveredLine(
                    line=line,
                    missed_instructions=known - hit,
                    covered_instructions=hit,
                )
