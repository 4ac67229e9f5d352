"""Find which literals name changed resources, and which tests depend on such resources."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from coevo.git.repository import FileChange
from coevo.languages.reading import LanguageReading, RevisionTree, Side
from coevo.languages.verdicts import Trace
from coevo.model.dependencies import RESOURCE, CoupledBy, Dependency, Revised


def is_resource(reading: LanguageReading, path: str, side: Side) -> bool:
    """Return whether a path is a resource of the given side (tests or sources)."""
    placement = reading.classify_path(path)
    return placement is not None and placement.is_resource and placement.side is side


def list_resource_stems(reading: LanguageReading, path: str) -> frozenset[str]:
    """Return the names of a resource and of its folders, each up to its first dot.

    Only below the folder of resources: a method `test` is not what `src/test/resources` is about.
    """
    placement = reading.classify_path(path)
    relative = placement.relative if placement else path
    return frozenset(part.partition('.')[0] for part in relative.split('/'))


# The way to a folder that a test names from where it runs: `./testdata`, `../../testdata`.
_WAY = re.compile(r'(?:\.{1,2}/+)+')
# What a program puts a value in for: `%s`, `%03d`, `{}`, `{name}`.
_GAP = re.compile(r'%[-+# 0-9.]*[a-zA-Z]|\{\w*\}')


def is_named_by_literal(reading: LanguageReading, path: str, literal: str) -> bool:
    """Return whether a literal names a resource.

    It does by the end of the path, a folder, a pattern, or the file name alone. `./` and `../`
    before it do not count. A pattern has `*`, `?` or a place for a value, such as `%s` or `{name}`.
    Literals of less than three characters name nothing.
    """
    placement = reading.classify_path(path)
    relative = placement.relative if placement else path
    text = literal.replace('classpath:', '').strip().strip('/')
    if len(text) < 3:  # '.', 'a' and the like name nothing
        return False
    text = text[match.end() :] if (match := _WAY.match(text)) else text
    if relative == text or relative.endswith(f'/{text}') or relative.startswith(f'{text}/'):
        return True
    if _fits_pattern(relative, _GAP.sub('*', text)):
        return True
    return PurePosixPath(text).name == PurePosixPath(relative).name


def _fits_pattern(relative: str, pattern: str) -> bool:
    """Return whether a path ends as a pattern says; `**/` in it stands for any number of folders.

    False for a text without `*` or `?`, and for one without a name, such as `*/*`.
    """
    if '*' not in pattern and '?' not in pattern:
        return False
    if not any(character.isalnum() for character in pattern):
        return False
    path = PurePosixPath(relative)
    depths = range(len(path.parts)) if '**/' in pattern else (0,)
    return any(path.match(pattern.replace('**/', '*/' * depth)) for depth in depths)


def find_resource_dependencies(
    reading: LanguageReading,
    changes: Iterable[FileChange],
    ends: Iterable[tuple[RevisionTree, Trace | None]],
    first_rank: int,
) -> tuple[Dependency, ...]:
    """Return the changed resources of the sources on which a test depends.

    A literal names them in a type of which the test executes a method.

    ends        tree and trace of the test at either end; without a trace the end shows nothing
    first_rank  rank of the first dependency
    """
    changed_resources = sorted(
        (c for c in changes if is_resource(reading, c.path, Side.SOURCE)), key=lambda c: c.path
    )
    if not changed_resources:
        return ()
    literals = {text for tree, trace in ends if trace for text in _list_literals(tree, trace)}
    named = [
        c
        for c in changed_resources
        if any(is_named_by_literal(reading, c.path, text) for text in literals)
    ]
    return tuple(
        Dependency(
            name=change.path,
            declaration=RESOURCE,
            file=change.path,
            start_line=0,
            end_line=0,
            revised=_classify_revision(change),
            coupled_by=CoupledBy.EXECUTION,
            rank=rank,
        )
        for rank, change in enumerate(named, start=first_rank)
    )


def _list_literals(tree: RevisionTree, trace: Trace) -> Iterator[str]:
    """Yield the string literals of all types of which a method was executed."""
    types = {(method.file, method.type) for method in trace.executed if method.file is not None}
    for path in sorted({file for file, _ in types if file is not None}):
        for type_ in tree.parse_file(path).types:
            if (path, type_.name) in types:
                for member in type_.members:
                    yield from member.strings


def _classify_revision(change: FileChange) -> Revised:
    if change.old_oid is None:
        return Revised.INSERTED
    return Revised.REMOVED if change.new_oid is None else Revised.MODIFIED
