"""The neighbours whose worth a patch may have changed, by the syntax trees of the test file.

A neighbour is touched if its own text is neither that of the start file nor that of gold's file, or
if the same holds for something that it may use: a fixture, a helper, a field, the head of its
class, an import. What a patch adds touches a neighbour only if it runs by itself (a fixture, an
initialiser) or takes a name that the neighbours use.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.reading import LanguageReading
from coevo.languages.table import get_measures, get_reading
from coevo.model.records import TestMethod

Key = tuple[str, str, str, tuple[str, ...]]
"""The owner, kind, name and parameters of a member."""

_CALLABLES = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True)
class TouchedNeighbours:
    """Neighbours by name.

    rewritten         those with another text of their own
    touched           these and those that use something changed
    fewer_assertions  touched ones that have fewer assertions, in themselves or in a helper that they
                      name
    """

    rewritten: frozenset[str] = frozenset()
    touched: frozenset[str] = frozenset()
    fewer_assertions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class NeighbourFile:
    """A test file as far as its neighbours matter.

    known        its content in the start file and in gold's file, as far as these exist
    find_targets returns the targets that a parsed version declares
    neighbours   the neighbours that pass with a patch, by name
    """

    language: str
    path: str
    known: tuple[bytes, ...]
    find_targets: Callable[[SourceFile], Iterable[TestMethod]]
    neighbours: Mapping[str, TestMethod]


def find_touched_neighbours(file: NeighbourFile, patched: bytes) -> TouchedNeighbours:
    """Return which of the neighbours that pass with a patch it touches."""
    reading, neighbours = get_reading(file.language), file.neighbours
    known = [_read_members(file, text) for text in file.known]
    now = _read_members(file, patched)
    own = {name: key for name, method in neighbours.items() if (key := _make_key(method))}
    rewritten = frozenset(
        name
        for name, key in own.items()
        if key in now.tests and not any(_is_same(now.tests, one.tests, key) for one in known)
    )
    shares_changes = now.file.has_error or any(_list_shared_changes(reading, now, known))
    touched = frozenset(neighbours) if shares_changes else rewritten
    return TouchedNeighbours(
        rewritten=rewritten,
        touched=touched,
        fewer_assertions=frozenset(
            name
            for name, key in own.items()
            if name in touched and _has_fewer_assertions(file.language, key, now, known)
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FileMembers:
    """The members of a file by their keys, without those of the targets.

    tests   the neighbours
    shared  all others
    """

    file: SourceFile
    tests: Mapping[Key, Member]
    shared: Mapping[Key, Member]

    @property
    def names(self) -> frozenset[str]:
        """The identifiers in all of these members."""
        kept = (*self.tests.values(), *self.shared.values())
        return frozenset[str]().union(*(member.names for member in kept))

    @property
    def imports(self) -> dict[str, str]:
        """The imported names by the text of the import."""
        return {f'{one.text} {one.static}': one.name for one in self.file.imports}

    @property
    def types(self) -> Mapping[str, DeclaredType]:
        """The types by their binary names."""
        return {type_.name: type_ for type_ in self.file.types}


def _read_members(file: NeighbourFile, text: bytes) -> _FileMembers:
    parsed = get_reading(file.language).parse(text, file.path)
    own = set(map(_make_key, file.neighbours.values()))
    targets = set(map(_make_key, file.find_targets(parsed)))
    members = {
        (member.owner, member.kind, member.name, member.parameters): member
        for type_ in parsed.types
        for member in type_.members
    }
    return _FileMembers(
        file=parsed,
        tests={key: member for key, member in members.items() if key in own},
        shared={key: member for key, member in members.items() if key not in own | targets},
    )


def _make_key(method: TestMethod) -> Key:
    return method.test_class, 'method', method.test_method, method.parameters


def _is_same(now: Mapping[Key, Member], before: Mapping[Key, Member], key: Key) -> bool:
    return key in now and key in before and now[key].hash == before[key].hash


def _list_shared_changes(
    reading: LanguageReading, now: _FileMembers, known: Iterable[_FileMembers]
) -> Iterator[str]:
    """Yield the names of what a patch changes, removes or adds beside tests, if it may matter."""
    files = list(known)
    used = frozenset[str]().union(*(file.names for file in files))
    before = {key for file in files for key in file.shared}
    kept_by_all = before.intersection(*(file.shared for file in files))
    for key in before if files else ():
        is_kept = any(_is_same(now.shared, file.shared, key) for file in files)
        if (key in now.shared or key in kept_by_all) and not is_kept:
            yield key[2]
    for key, member in now.shared.items():
        if key not in before and _may_matter(reading, member, used):
            yield member.name
    shapes = {(name, type_.shape_hash) for file in files for name, type_ in file.types.items()}
    old_names = {name for name, _ in shapes}
    for name, type_ in now.types.items():
        if (name, type_.shape_hash) not in shapes and (name in old_names or type_.simple in used):
            yield name
    old_imports = {text for file in files for text in file.imports}
    for text, name in now.imports.items():
        if text not in old_imports and (name in used or name in ('', '*')):
            yield name


def _may_matter(reading: LanguageReading, added: Member, used: frozenset[str]) -> bool:
    """Return whether an added member runs by itself, or takes a name that is in use."""
    if reading.is_fixture(added) or added.name in used:
        return True
    return added.kind not in (*_CALLABLES, 'field')


def _has_fewer_assertions(
    language: str, key: Key, now: _FileMembers, known: Iterable[_FileMembers]
) -> bool:
    """Return whether a neighbour has fewer assertions than in each version before.

    The assertions of the helpers that it names count as its own.
    """
    assertions = get_measures(language).assertions
    if assertions is None or key not in now.tests:
        return False

    def count(file: _FileMembers) -> int:
        """Return the number of assertions of the neighbour in a version of the file."""
        test = file.tests[key]
        helpers = (member for member in file.shared.values() if member.name in test.names)
        return sum(len(assertions.list_assertions(one.source)) for one in (test, *helpers))

    before = [count(file) for file in known if key in file.tests]
    return bool(before) and count(now) < min(before)
