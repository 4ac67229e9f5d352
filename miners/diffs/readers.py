"""Find the tests that may use a changed part of the test tree, starting from what changed.

The closure of every test at both ends would tell as well, but nearly all of them are equal. From
the changed declarations, names lead back to the units whose text contains them, and from these to
others. That finds too much, since one name may be declared many times, but never too little:
`TestTree.hash_context` then decides about the few tests that are left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
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
        files = tree.find_affected_test_files({path for path, _ in unnamed}, names)
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
