"""Changed resources: what names them, and which tests depend on those of the sources."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from pathlib import PurePosixPath

from coevo.git.repository import FileChange
from coevo.languages.layout import Side
from coevo.languages.reading import Reading
from coevo.languages.reading import Tree
from coevo.languages.traces import Trace
from coevo.model.dependencies import RESOURCE
from coevo.model.dependencies import CoupledBy
from coevo.model.dependencies import Dependency
from coevo.model.dependencies import Revised


def is_resource(reading: Reading, path: str, side: Side) -> bool:
    found = reading.placed(path)
    return found is not None and found.is_resource and found.side is side


def is_named(reading: Reading, path: str, literal: str) -> bool:
    """Whether a literal names a resource: by its path's end, its folder or its file name."""
    found = reading.placed(path)
    relative = found.relative if found else path
    text = literal.replace('classpath:', '').strip().strip('/')
    if len(text) < 3:  # '.', 'a' and such name nothing
        return False
    if relative == text or relative.endswith(f'/{text}') or relative.startswith(f'{text}/'):
        return True
    return PurePosixPath(text).name == PurePosixPath(relative).name


def resource_dependencies(
    reading: Reading,
    changes: Iterable[FileChange],
    ends: Iterable[tuple[Tree, Trace | None]],
    first_rank: int,
) -> tuple[Dependency, ...]:
    """The changed resources of the sources that a type names of which the test executes a method."""
    found = sorted(
        (c for c in changes if is_resource(reading, c.path, Side.SOURCE)), key=lambda c: c.path
    )
    if not found:
        return ()
    literals = {text for tree, trace in ends if trace for text in _literals(tree, trace)}
    named = [c for c in found if any(is_named(reading, c.path, text) for text in literals)]
    return tuple(
        Dependency(
            name=change.path,
            declaration=RESOURCE,
            file=change.path,
            start_line=0,
            end_line=0,
            revised=_revised(change),
            coupled_by=CoupledBy.EXECUTION,
            rank=rank,
        )
        for rank, change in enumerate(named, start=first_rank)
    )


def _literals(tree: Tree, trace: Trace) -> Iterator[str]:
    """The string literals of all types of which a method was executed."""
    types = {(one.file, one.type) for one in trace.executed if one.file is not None}
    for path in sorted({file for file, _ in types if file is not None}):
        for type_ in tree.file(path).types:
            if (path, type_.name) in types:
                for member in type_.members:
                    yield from member.strings


def _revised(change: FileChange) -> Revised:
    if change.old_oid is None:
        return Revised.INSERTED
    return Revised.REMOVED if change.new_oid is None else Revised.MODIFIED
