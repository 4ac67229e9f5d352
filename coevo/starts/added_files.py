"""Find data files, helper files and members of helpers that a pair adds to the test tree, which its
new tests need.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from coevo.git.objects import LINK
from coevo.git.repository import Repository, load_content
from coevo.languages.declarations import MODULE
from coevo.languages.reading import Side
from coevo.languages.surgery import StartStateInvalid
from coevo.languages.table import get_reading, get_surgery
from coevo.starts.isolated_cells import Files

# Find data files that a pair adds to the test tree, which its new tests may read.
#
# They are added to the old tree together with targets. Data that existed before and was changed or
# removed is a change of its own, and stays as it was.

# The limit for all files together, since their contents are part of a cell's key. If a pair adds
# more, none of it is used.
MOST_BYTES = 8 << 20


@lru_cache(maxsize=4)
def list_added_test_data(
    repository: Repository, language: str, old_rev: str, new_rev: str
) -> Files:
    """Return the data files that a pair adds to its tests, sorted by path, as a checkout has them.

    Sources and symbolic links are not data. Nothing is returned if all together exceed 8 MiB.
    """
    text = get_reading(language)
    tree, before = text.open_tree(repository, new_rev), repository.tree(old_rev)
    added = {
        path: entry.oid
        for path, entry in tree.entries.items()
        if path not in before
        and entry.mode != LINK
        and not path.endswith(text.SUFFIXES)
        and tree.belongs_to_tests(path)
    }
    data_files, total = [], 0
    converted = repository.load_files_changed_by_checkout(new_rev) if added else {}
    for path, oid in sorted(added.items()):
        content = converted[path] if path in converted else repository.blob(oid)
        total += len(content)
        if total > MOST_BYTES:
            return ()
        data_files.append((path, content))
    return tuple(data_files)


def merge_data(files: Files, data: Files) -> Files:
    """Return the files of a cell and data files together, sorted by path.

    If both have a path, the cell's own file wins.
    """
    return tuple(sorted({**dict(data), **dict(files)}.items()))


# Find what a pair adds to the test sources: new files, and new members of existing files.
#
# Tests of the old tree cannot use these helpers, so only new tests do. They are laid over the old
# tree if the targets do not pass there without them. Everything else that changed or disappeared in
# the tests is a change of its own and stays as it was. The helpers are taken from the start state:
# a submission could use nothing else.

# A pair that changes more test files than this adds no helpers, since each file must be parsed.
MOST_FILES = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TestSources:
    """The test sources of a language at a revision.

    edits  files whose content differs from the revision's, by path; None means absent
    """

    __test__ = False

    repository: Repository
    language: str
    rev: str
    edits: Mapping[str, bytes | None] = field(default_factory=dict)

    def list_file_identities(self) -> dict[str, str | bytes]:
        """Return for each test file a value that changes with its content: a blob id, or the edit.

        Symbolic links and absent files are left out.
        """
        tree = get_reading(self.language).open_tree(self.repository, self.rev)
        paths = (p for p in tree.list_paths(Side.TEST) if tree.entries[p].mode != LINK)
        there = {path: tree.entries[path].oid for path in paths}
        return {p: t for p, t in {**there, **self.edits}.items() if t is not None}

    def read_text(self, path: str) -> bytes:
        """Return the content of a file; empty if it is absent."""
        if path in self.edits:
            return self.edits[path] or b''
        return load_content(self.repository, self.rev, path) or b''


def find_added_helpers(old: TestSources, start: TestSources, own: str) -> Files:
    """Return new and extended test files to lay over the old tree, sorted by path.

    A file is left out if it newly declares a name that is also declared in an old version of a
    changed file: the declaration was moved, and would then exist twice. Nothing is returned if more
    than `MOST_FILES` files differ.

    old    the old test tree
    start  the start state's test tree
    own    the test file of the task, which is left out
    """
    before, after = old.list_file_identities(), start.list_file_identities()
    differ = sorted(p for p in before.keys() | after if before.get(p) != after.get(p))
    if len(differ) > MOST_FILES:
        return ()
    taken = {
        declaration
        for path in differ
        if path in before
        for declaration in _list_old_declarations(old, path)
    }
    files: list[tuple[str, bytes]] = []
    for path in differ:
        if path == own or path not in after:
            continue
        text = _add_helpers_to_file(old, start, path) if path in before else start.read_text(path)
        if text is not None and taken.isdisjoint(_list_new_declarations(old, path, text)):
            files.append((path, text))
    return tuple(files)


def _add_helpers_to_file(old: TestSources, start: TestSources, path: str) -> bytes | None:
    """Return the old version of a file with the helpers that the start state's version adds.

    None if it adds none, or one of the two cannot be edited.
    """
    before = old.read_text(path)
    try:
        extended = get_surgery(old.language).add_helpers(before, start.read_text(path))
    except StartStateInvalid:
        return None  # one of the files cannot be edited, so it stays as it was
    return extended if extended != before else None


def _list_new_declarations(old: TestSources, path: str, text: bytes) -> set[tuple[str, ...]]:
    """Return the names that a text declares and the old file at that path does not."""
    return set(_list_declarations(old.language, path, text)) - _list_old_declarations(old, path)


def _list_old_declarations(old: TestSources, path: str) -> set[tuple[str, ...]]:
    return set(_list_declarations(old.language, path, old.read_text(path)))


def _list_declarations(language: str, path: str, text: bytes) -> Iterator[tuple[str, ...]]:
    """Yield the names that a text declares and that may exist only once in the tests.

    These are types, and module-level functions with their folder and module.
    """
    folder = path.rpartition('/')[0]
    for type_ in get_reading(language).parse(text, path).types:
        if type_.kind == MODULE:
            yield from ((folder, type_.name, m.name) for m in type_.members if m.kind == 'method')
        else:
            yield (type_.name,)
