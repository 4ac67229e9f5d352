"""The refactorings of a pair, by RefactoringMiner, from the contents of the files that differ.

Nothing is checked out. That something is unknown is an answer of its own, never "no refactoring": a
missing JVM, a hanging or dying worker and too large a pair keep the row and withhold its track.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable
from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any
from typing import Self

from coevo.git.repository import FileChange
from coevo.git.repository import Repository
from miners.refactorings.process import MinerLimits
from miners.refactorings.process import ProcessEnd
from miners.refactorings.process import RefactoringProcess
from miners.refactorings.process import Unknown

__all__ = [
    'MinerLimits',
    'Refactoring',
    'RefactoringLocation',
    'RefactoringMiner',
    'RefactoringMiners',
    'Refactorings',
    'Unknown',
]

SUFFIX = '.java'
_LINE_END = re.compile('\r\n|\r|\n')  # as the parser counts lines


class Status(StrEnum):
    """Whether the refactorings of a pair are known."""

    FOUND = 'found'
    UNKNOWN = 'unknown'


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class RefactoringLocation:
    """A piece of code at one end. Lines and columns are 1-based, the last column is exclusive.

    element_type  the parser's name of it, such as METHOD_DECLARATION
    element       its signature; empty for a statement
    role          what it is in the refactoring, such as 'extracted method invocation'
    source        its text if it is a declaration, fields by whole lines; no part of what it is
    """

    file: str
    start_line: int
    end_line: int
    element_type: str
    element: str
    role: str
    start_column: int
    end_column: int
    source: str = field(default='', compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refactoring:
    """One refactoring as RefactoringMiner names it, such as 'Rename Method'.

    pure  what its PurityChecker says; None where that judges no such kind
    """

    type: str
    description: str
    left: tuple[RefactoringLocation, ...]
    right: tuple[RefactoringLocation, ...]
    pure: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refactorings:
    """Those of a pair, in a fixed order; `why` says why they are unknown.

    cpu_seconds  of the worker, for those that are found
    """

    status: Status
    why: Unknown | None = None
    found: tuple[Refactoring, ...] = ()
    cpu_seconds: float = field(default=0.0, compare=False)


class RefactoringMiner:
    """For one thread; `limits` hold for each pair. The worker starts when it is first needed."""

    def __init__(self, limits: MinerLimits | None = None) -> None:
        self._limits = limits or MinerLimits()
        self.process = RefactoringProcess(self._limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close()

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """The refactorings between two revisions; CorruptObject if a file cannot be read."""
        changes = [c for c in repository.changed(old, new) if c.path.endswith(SUFFIX)]
        trees = (repository.tree(old), repository.tree(new))
        return self.compare(*_contents(repository, changes), *trees)

    def compare(
        self,
        old: Mapping[str, bytes],
        new: Mapping[str, bytes],
        all_old: Iterable[str] = (),
        all_new: Iterable[str] = (),
    ) -> Refactorings:
        """The refactorings between two sets of files, contents by path.

        all_old, all_new  paths of files at either end that are the same at both, too
        """
        size = sum(map(len, (*old.values(), *new.values())))
        if len(old.keys() | new.keys()) > self._limits.files or size > self._limits.bytes:
            return _unknown(Unknown.TOO_LARGE)
        if not old or not new:
            return Refactorings(status=Status.FOUND)  # nothing to be compared with
        left, right = ({_name(p): _text(c) for p, c in end.items()} for end in (old, new))
        folders = _folders((*old, *all_old)), _folders((*new, *all_new))
        answer = self.process.ask(
            ProcessEnd(files=left, folders=folders[0]), ProcessEnd(files=right, folders=folders[1])
        )
        if isinstance(answer, Unknown):
            return _unknown(answer)
        if 'error' in answer:
            return _unknown(Unknown.CRASHED)
        ends = _Lines(left, old), _Lines(right, new)
        found = {_refactoring(row, *ends) for row in answer['refactorings']}
        return Refactorings(
            status=Status.FOUND,
            found=tuple(sorted(found, key=_order)),
            cpu_seconds=answer['cpu_seconds'],
        )


class RefactoringMiners:
    """One for each thread that asks, all closed together."""

    def __init__(self) -> None:
        self._opened: dict[int, RefactoringMiner] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Kill all workers; threads that wait for one are told so."""
        for miner in tuple(self._opened.values()):
            miner.process.close()

    def of_thread(self) -> RefactoringMiner:
        """That of the calling thread."""
        return self._opened.setdefault(threading.get_ident(), RefactoringMiner())


def _unknown(why: Unknown) -> Refactorings:
    return Refactorings(status=Status.UNKNOWN, why=why)


def _contents(
    repository: Repository, changes: Iterable[FileChange]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    old, new = {}, {}
    for change in changes:
        if change.old_oid == change.new_oid:
            continue  # only the mode differs
        if change.old_oid is not None:
            old[change.path] = repository.blob(change.old_oid)
        if change.new_oid is not None:
            new[change.path] = repository.blob(change.new_oid)
    return old, new


def _folders(paths: Iterable[str]) -> tuple[str, ...]:
    """Those of Java files, and all folders around them, sorted."""
    direct = {PurePosixPath(path).parent for path in paths if path.endswith(SUFFIX)}
    found = {str(one) for folder in direct for one in (folder, *folder.parents)}
    return tuple(sorted(map(_name, found - {'.'})))


def _name(path: str) -> str:
    """A path as Java can have it: without the surrogates of bytes that are not UTF-8."""
    return path.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')


def _text(content: bytes) -> str:
    return content.decode('utf-8', 'replace').removeprefix('\ufeff')


class _Lines:
    """The files of one end by line, as the worker was given them."""

    def __init__(self, texts: Mapping[str, str], paths: Iterable[str]) -> None:
        self._texts = texts
        self._lines: dict[str, list[str]] = {}
        self.paths = {_name(path): path for path in paths}

    def cut(self, row: list[Any]) -> str:
        """The text of a declaration, else nothing."""
        file, first, last, start, end, kind, *_ = row
        if not kind.endswith('_DECLARATION') or kind == 'SINGLE_VARIABLE_DECLARATION':
            return ''
        if file not in self._lines:
            self._lines[file] = _LINE_END.split(self._texts[file])
        lines = self._lines[file][first - 1 : last]
        if kind != 'FIELD_DECLARATION':  # that is one declarator
            lines[-1] = lines[-1][: max(end - 1, 0)]
            lines[0] = lines[0][max(start - 1, 0) :]
        return '\n'.join(lines)


def _refactoring(row: Mapping[str, Any], old: _Lines, new: _Lines) -> Refactoring:
    return Refactoring(
        type=row['type'],
        description=row['description'],
        left=tuple(sorted({_location(each, old) for each in row['left']})),
        right=tuple(sorted({_location(each, new) for each in row['right']})),
        pure=row['pure'],
    )


def _location(row: list[Any], lines: _Lines) -> RefactoringLocation:
    file, start_line, end_line, start_column, end_column, element_type, element, role = row
    return RefactoringLocation(
        file=lines.paths[file],
        start_line=start_line,
        end_line=end_line,
        element_type=element_type,
        element=element,
        role=role,
        start_column=start_column,
        end_column=end_column,
        source=lines.cut(row),
    )


def _order(one: Refactoring) -> tuple[object, ...]:
    return one.type, one.description, one.left, one.right, repr(one.pure)
