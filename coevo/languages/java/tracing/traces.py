"""Traces from what the reader of execution data says of class files (coevo/languages/java/jvm/builder/Execution)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coevo.languages.java.tracing.code_files import CodeFiles
from coevo.languages.traces import CoveredLine, ExecutedMethod, Trace

_Counts = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _ExecutedClass:
    """A class as it was executed in one way."""

    key: tuple[int, str]
    path: str | None
    covered: tuple[ExecutedMethod, ...]
    missed: Mapping[str, ExecutedMethod]  # by CLASS.METHODDESCRIPTOR, internal names
    lines: Mapping[int, _Counts]


def parse_traces(
    report: Mapping[str, Any], entered: Sequence[str], code: CodeFiles, files: Collection[str]
) -> list[Trace | None]:
    """A trace for each test of a report, None where its data were none; lines for `files`.

    entered  lines of methods for each test, which count beside those that JaCoCo has covered
    """
    classes = [_parse_class(class_, code) for class_ in report['classes']]
    blank = {class_.key: class_ for class_ in (classes[index] for index in report['blank'])}
    traces: list[Trace | None] = []
    for places, lines in zip(report['tests'], entered, strict=True):
        hit = [classes[index] for index in places or ()]
        there = {**blank, **{class_.key: class_ for class_ in hit}}
        traces.append(
            None
            if places is None
            else Trace(
                executed=tuple(
                    sorted(_list_methods(hit, frozenset(lines.splitlines())), key=_get_sort_key)
                ),
                lines={path: _sum_lines(path, there.values()) for path in sorted(files)},
            )
        )
    return traces


def _parse_class(one: Mapping[str, Any], code: CodeFiles) -> _ExecutedClass:
    name = one['name']
    path = code.find_source(one['folder'], name, one['source'])
    internal = name.replace('.', '/')
    return _ExecutedClass(
        key=(one['folder'], name),
        path=path,
        covered=tuple(_parse_method(name, path, row) for row in one['methods'] if row[-1]),
        missed={
            f'{internal}.{row[0]}{row[1]}': _parse_method(name, path, row)
            for row in one['methods']
            if not row[-1]
        },
        lines={number: (mi, ci, mb, cb) for number, mi, ci, mb, cb in one['lines'] or ()},
    )


def _parse_method(type_: str, path: str | None, told: Sequence[Any]) -> ExecutedMethod:
    name, descriptor, first, last, _ = told
    return ExecutedMethod(
        type=type_,
        method=name,
        descriptor=descriptor,
        file=path,
        first_line=first,
        last_line=last,
    )


def _list_methods(
    classes: Iterable[_ExecutedClass], entered: frozenset[str]
) -> Iterator[ExecutedMethod]:
    for class_ in classes:
        yield from class_.covered
        yield from (class_.missed[name] for name in class_.missed.keys() & entered)


def _get_sort_key(method: ExecutedMethod) -> tuple[str, ...]:
    return (method.type, method.method, method.descriptor, method.file or '')


def _sum_lines(path: str, classes: Iterable[_ExecutedClass]) -> tuple[CoveredLine, ...]:
    """Sums over the classes of a file, as JaCoCo's reports have them."""
    sums: dict[int, _Counts] = {}
    for class_ in classes:
        if class_.path == path:
            for number, (mi, ci, mb, cb) in class_.lines.items():
                old = sums.get(number, (0, 0, 0, 0))
                sums[number] = (old[0] + mi, old[1] + ci, old[2] + mb, old[3] + cb)
    return tuple(
        CoveredLine(
            line=number,
            missed_instructions=mi,
            covered_instructions=ci,
            missed_branches=mb,
            covered_branches=cb,
        )
        for number, (mi, ci, mb, cb) in sorted(sums.items())
    )
