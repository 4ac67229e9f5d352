"""Find the tests to which a change of the test tree outside of their own text matters.

First, the tests that may use a changed part of the test tree, starting from what changed. The closure
of every test at both ends would tell as well, but nearly all of them are equal. From the changed
declarations, names lead back to the units whose text contains them, and from these to others. That
finds too much, since one name may be declared many times, but never too little:
`TestTree.hash_context` then decides about the few tests that are left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from coevo.languages.declarations import Import
from coevo.languages.reading import LanguageReading
from miners.diffs.contexts import Test, TestTree, TreeUnit, find_implied_method_source
from miners.diffs.resources import is_named_by_literal, list_resource_stems


@dataclass(frozen=True, slots=True, kw_only=True)
class Readers:
    """The units of a revision that may use something that changed, and the names of resources.

    stems  the names after which a test or its file is named if a changed resource belongs to it
    """

    units: frozenset[TreeUnit]
    stems: frozenset[str]

    def may_use_change(self, test: Test) -> bool:
        """Return whether a test may use something that changed."""
        own = {test.method.test_method, PurePosixPath(test.method.test_file).stem}
        return test.unit in self.units or not self.stems.isdisjoint(own)


def find_affected_units(
    old: TestTree,
    new: TestTree,
    places: tuple[Collection[str], Collection[str]],
    resources: Collection[str],
) -> tuple[Readers, Readers]:
    """Return what may use a change of the test tree, at old and at new.

    places     the test files that differ, at old and at new
    resources  the paths of the changed resources of the tests
    """
    stems = frozenset(stem for path in resources for stem in list_resource_stems(new.reading, path))
    ends = []
    for own, other, own_paths, other_paths in (
        (old, new, places[0], places[1]),
        (new, old, places[1], places[0]),
    ):
        changed = set(_list_changed_units(own, other, own_paths, other_paths))
        naming = _list_naming_units(own, resources) if resources else ()
        ends.append(Readers(units=_find_transitive_users(own, {*changed, *naming}), stems=stems))
    return ends[0], ends[1]


def _list_changed_units(
    own: TestTree, other: TestTree, own_paths: Collection[str], other_paths: Collection[str]
) -> Iterator[TreeUnit]:
    """Yield the units of one end that the other end has not in the same file and type.

    Also the units that may mean something else there, because the imports of their file differ.
    """
    types = own.tree.test_types.keys() | other.tree.test_types.keys()
    for path in own_paths:
        there = other.list_units(path) if path in other_paths else ()
        known = {(unit.type.name, unit.content_key) for unit in there}
        imports = _list_differing_imports(own, other, path, types) if there else frozenset()
        for unit in own.list_units(path):
            if (
                (unit.type.name, unit.content_key) not in known
                or '*' in imports
                or not imports.isdisjoint(unit.names)
            ):
                yield unit


def _list_differing_imports(
    own: TestTree, other: TestTree, path: str, types: Collection[str]
) -> frozenset[str]:
    """Return the names that a file imports at one end only, from types of the tests.

    '*' if it imports all names of one.
    """
    own_imports, other_imports = (
        {(item.text, item.name, item.static): item for item in tree.tree.parse_file(path).imports}
        for tree in (own, other)
    )
    differing = [
        (own_imports | other_imports)[key] for key in own_imports.keys() ^ other_imports.keys()
    ]
    return frozenset(item.name for item in differing if _may_bring_test_types(item, types))


def _may_bring_test_types(item: Import, types: Collection[str]) -> bool:
    if item.name == '*' and not item.static:
        return True
    parts = item.text.split('.')
    return any(part in types for part in (*parts[-2:], item.name))


def _list_naming_units(tree: TestTree, resources: Collection[str]) -> Iterator[TreeUnit]:
    """Yield the units with a string literal that names one of the resources."""
    names: dict[str, bool] = {}
    for unit in tree.list_all_units():
        for text in unit.strings:
            if text not in names:
                names[text] = _names_any(tree.reading, resources, text)
            if names[text]:
                yield unit
                break


def _names_any(reading: LanguageReading, resources: Iterable[str], text: str) -> bool:
    return any(is_named_by_literal(reading, path, text) for path in resources)


def _find_transitive_users(tree: TestTree, seeds: set[TreeUnit]) -> frozenset[TreeUnit]:
    """Return the seeds and all units that may use one of them, directly or indirectly.

    What runs without being named, such as set-up, reaches all units of each file that may use its
    type.
    """
    readers, new = set(seeds), seeds
    rest = [unit for unit in tree.list_all_units() if unit not in readers] if seeds else []
    spread_types: set[tuple[str, str]] = set()
    while new:
        wanted = {name for unit in new for name in _list_own_names(tree, unit)}
        unnamed: set[tuple[str, str]] = set()  # files and types
        for unit in new:
            if (unit.path, unit.type.name) not in spread_types and _runs_unnamed(tree, unit):
                spread_types.add((unit.path, unit.type.name))
                unnamed.add((unit.path, unit.type.simple))
        names = frozenset(name for _, name in unnamed)
        files = tree.mentions.find_affected_test_files({path for path, _ in unnamed}, names)
        wanted |= names
        is_injected = any(
            unit.member and tree.reading.list_provided_fixture_names(unit.member) for unit in new
        )
        new = {
            unit
            for unit in rest
            if unit.path in files or _may_name(tree, unit, wanted, is_injected=is_injected)
        }
        readers |= new
        rest = [unit for unit in rest if unit not in new]
    return frozenset(readers)


def _list_own_names(tree: TestTree, unit: TreeUnit) -> Iterator[str]:
    if unit.member is not None:
        yield unit.member.name
        yield from tree.reading.list_provided_fixture_names(unit.member)


def _runs_unnamed(tree: TestTree, unit: TreeUnit) -> bool:
    """Return whether a unit affects tests that name only its type, or not even that."""
    member = unit.member
    return (
        member is None
        or member.kind in ('initializer', 'constructor')
        or 'Override' in member.annotations
        or tree.reading.is_run_by_framework(member)
    )


def _may_name(tree: TestTree, unit: TreeUnit, wanted: set[str], *, is_injected: bool) -> bool:
    if not (
        wanted.isdisjoint(unit.names)
        and wanted.isdisjoint(unit.calls)
        and wanted.isdisjoint(unit.strings)
        and wanted.isdisjoint(find_implied_method_source(unit))
    ):
        return True
    return (
        is_injected
        and unit.member is not None
        and tree.reading.may_request_any_fixture(unit.member)
    )


# A table or constant of a test's own file that only this test reads belongs to its body: a test whose
# table changed is changed, although its own text stays as it is. A table that a fixture, a helper or
# another test reads, too, surrounds the test instead.

_FieldKey = tuple[str, str]


def has_own_data_changed(ends: tuple[TestTree, TestTree], old: Test, new: Test) -> bool:
    """Return whether a table or constant changed that only this test reads, at both ends.

    ends  the test trees at old and at new
    """
    fields = [_list_fields(tree, test) for tree, test in zip(ends, (old, new), strict=True)]
    changed = {
        key
        for key in fields[0].keys() & fields[1].keys()
        if fields[0][key].content_key != fields[1][key].content_key
    }
    for tree, test, own in zip(ends, (old, new), fields, strict=True):
        if changed:
            changed &= _find_own_data(tree, test, own).keys()
    return bool(changed)


def _find_own_data(
    tree: TestTree, test: Test, fields: Mapping[_FieldKey, TreeUnit]
) -> dict[_FieldKey, TreeUnit]:
    """Return those of a test's fields that nothing but the test reads, directly or through others.

    fields  the fields of its file that the test uses, see `_list_fields`
    """
    own = dict(fields)
    while True:
        readers = {test.unit, *own.values()}
        shared = [key for key, unit in own.items() if _has_other_reader(tree, unit, readers)]
        if not shared:
            return own
        for key in shared:
            del own[key]


def _list_fields(tree: TestTree, test: Test) -> dict[_FieldKey, TreeUnit]:
    """Return the fields of a test's own file that it uses, by their type and name."""
    return {
        (unit.type.name, unit.member.name): unit
        for unit in tree.compute_closure(test)
        if unit.member is not None
        and unit.member.kind == 'field'
        and unit.path == test.unit.path
        and not tree.reading.is_run_by_framework(unit.member)
    }


def _has_other_reader(tree: TestTree, unit: TreeUnit, readers: set[TreeUnit]) -> bool:
    """Return whether a unit of the test tree that is not in `readers` refers to a field."""
    assert unit.member is not None
    name = unit.member.name
    return any(
        (name in other.names or name in other.strings)
        and other not in readers
        and unit in tree.list_used_units(other)
        for other in tree.list_all_units()
    )
