"""What a test that passed has asked of the code: a line is a method with one instruction."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from coevo.languages.declarations import SourceFile
from coevo.languages.traces import CoveredLine, ExecutedMethod, Trace


def traces_of(
    code: Mapping[str, SourceFile], asked: Collection[str], files: Collection[str]
) -> Trace:
    """`asked` has names as `Type.name`; lines are told for some files."""
    found = [
        (path, type_, member, f'{type_.simple}.{member.name}' in asked)
        for path, file in code.items()
        for type_ in file.types
        for member in type_.members
    ]
    executed = [
        ExecutedMethod(
            type=type_.name,
            method=member.name,
            descriptor='',
            file=path,
            first_line=member.start_line,
            last_line=member.end_line,
        )
        for path, type_, member, hit in found
        if hit
    ]
    return Trace(
        executed=tuple(sorted(executed, key=lambda one: (one.type, one.method))),
        lines={
            path: tuple(
                CoveredLine(
                    line=member.start_line,
                    missed_instructions=int(not hit),
                    covered_instructions=int(hit),
                    missed_branches=0,
                    covered_branches=0,
                )
                for own, _, member, hit in found
                if own == path
            )
            for path in sorted(files)
        },
    )
