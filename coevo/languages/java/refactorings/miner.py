"""Detect the refactorings of a pair with RefactoringMiner, from the contents of changed files.

Nothing is checked out. An unknown result is distinct from "no refactoring": if there is no JVM, if
the worker hangs or dies, or if the pair is too large, the row is kept and its track is withheld.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any, Self

from coevo.git.repository import FileChange, Repository
from coevo.languages.java.refactorings.process import MinerLimits, MinerPairEnd, RefactoringProcess
from coevo.languages.refactorings import (
    Refactoring,
    RefactoringLocation,
    Refactorings,
    RefactoringStatus,
    RefactoringsUnknown,
)

SUFFIX = '.java'
_LINE_END = re.compile('\r\n|\r|\n')  # the line ends that RefactoringMiner's parser counts


class RefactoringMiner:
    """A miner of refactorings for one thread; its worker process starts when first needed.

    `limits` apply to each pair. Leaving the context kills the worker.
    """

    def __init__(self, limits: MinerLimits | None = None) -> None:
        self._limits = limits or MinerLimits()
        self.process = RefactoringProcess(self._limits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.close()

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Return the refactorings between two revisions, from the Java files that differ.

        If there is no result, the status is unknown, with a reason. Raises: CorruptObject if a file
        cannot be read.
        """
        changes = [c for c in repository.list_changes(old, new) if c.path.endswith(SUFFIX)]
        trees = (repository.tree(old), repository.tree(new))
        return self.compare(*_fetch_contents(repository, changes), *trees)

    def compare(
        self,
        old: Mapping[str, bytes],
        new: Mapping[str, bytes],
        all_old: Iterable[str] = (),
        all_new: Iterable[str] = (),
    ) -> Refactorings:
        """Return the refactorings between two sets of files, given as contents by path.

        The result is unknown, with a reason, if the sets are too large or the worker fails.
        `all_old` and `all_new` are paths of all files at either end: without them, a package whose
        files are unchanged would seem to be missing.
        """
        size = sum(map(len, (*old.values(), *new.values())))
        if len(old.keys() | new.keys()) > self._limits.files or size > self._limits.bytes:
            return _make_unknown(RefactoringsUnknown.TOO_LARGE)
        if not old or not new:
            return Refactorings(status=RefactoringStatus.FOUND)  # there is nothing to compare with
        left, right = (
            {_sanitise_path(p): _decode_text(c) for p, c in end.items()} for end in (old, new)
        )
        folders = (
            _list_folders_and_parents((*old, *all_old)),
            _list_folders_and_parents((*new, *all_new)),
        )
        answer = self.process.request_refactorings(
            MinerPairEnd(files=left, folders=folders[0]),
            MinerPairEnd(files=right, folders=folders[1]),
        )
        if isinstance(answer, RefactoringsUnknown):
            return _make_unknown(answer)
        if 'error' in answer:
            return _make_unknown(RefactoringsUnknown.CRASHED)
        ends = _JavaEndLines(left, old), _JavaEndLines(right, new)
        refactorings = {_parse_refactoring(row, *ends) for row in answer['refactorings']}
        return Refactorings(
            status=RefactoringStatus.FOUND,
            refactorings=tuple(sorted(refactorings, key=_get_sort_key)),
            cpu_seconds=answer['cpu_seconds'],
        )


class RefactoringMiners:
    """One miner for each calling thread, all closed together; implements `RefactoringFinder`."""

    def __init__(self) -> None:
        self._opened: dict[int, RefactoringMiner] = {}

    def find(self, repository: Repository, old: str, new: str) -> Refactorings:
        """Return the refactorings between two revisions, with the miner of the calling thread."""
        miner = self._opened.setdefault(threading.get_ident(), RefactoringMiner())
        return miner.find(repository, old, new)

    def close(self) -> None:
        """Kill all workers; threads waiting for one receive an unknown result."""
        for miner in tuple(self._opened.values()):
            miner.process.close()


def _make_unknown(why: RefactoringsUnknown) -> Refactorings:
    return Refactorings(status=RefactoringStatus.UNKNOWN, why=why)


def _fetch_contents(
    repository: Repository, changes: Iterable[FileChange]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    old, new = {}, {}
    for change in changes:
        if change.old_oid == change.new_oid:
            continue  # only the file mode differs
        if change.old_oid is not None:
            old[change.path] = repository.blob(change.old_oid)
        if change.new_oid is not None:
            new[change.path] = repository.blob(change.new_oid)
    return old, new


def _list_folders_and_parents(paths: Iterable[str]) -> tuple[str, ...]:
    """Return the folders of Java files and all of their parents, sorted."""
    direct = {PurePosixPath(path).parent for path in paths if path.endswith(SUFFIX)}
    folders = {str(ancestor) for folder in direct for ancestor in (folder, *folder.parents)}
    return tuple(sorted(map(_sanitise_path, folders - {'.'})))


def _sanitise_path(path: str) -> str:
    """Return a path as Java can represent it, without surrogates for bytes that are not UTF-8."""
    return path.encode('utf-8', 'surrogateescape').decode('utf-8', 'replace')


def _decode_text(content: bytes) -> str:
    return content.decode('utf-8', 'replace').removeprefix('\ufeff')


class _JavaEndLines:
    """The files of one end of a pair by lines, from which it cuts out declarations."""

    def __init__(self, texts: Mapping[str, str], paths: Iterable[str]) -> None:
        self._texts = texts
        self._lines: dict[str, list[str]] = {}
        self.paths = {_sanitise_path(path): path for path in paths}

    def extract_declaration(self, row: list[Any]) -> str:
        """Return the source of the code element in a worker's row; '' if it is no declaration."""
        file, first, last, start, end, kind, *_ = row
        if not kind.endswith('_DECLARATION') or kind == 'SINGLE_VARIABLE_DECLARATION':
            return ''
        if file not in self._lines:
            self._lines[file] = _LINE_END.split(self._texts[file])
        lines = self._lines[file][first - 1 : last]
        if kind != 'FIELD_DECLARATION':  # a field's range covers only one declarator
            lines[-1] = lines[-1][: max(end - 1, 0)]
            lines[0] = lines[0][max(start - 1, 0) :]
        return '\n'.join(lines)


def _parse_refactoring(
    row: Mapping[str, Any], old: _JavaEndLines, new: _JavaEndLines
) -> Refactoring:
    return Refactoring(
        type=row['type'],
        description=row['description'],
        left=tuple(sorted({_parse_location(each, old) for each in row['left']})),
        right=tuple(sorted({_parse_location(each, new) for each in row['right']})),
        pure=row['pure'],
    )


def _parse_location(row: list[Any], lines: _JavaEndLines) -> RefactoringLocation:
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
        source=lines.extract_declaration(row),
    )


def _get_sort_key(one: Refactoring) -> tuple[object, ...]:
    return one.type, one.description, one.left, one.right, repr(one.pure)
