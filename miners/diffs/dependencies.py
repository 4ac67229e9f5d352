"""Find the changed production declarations to which a test refers, judged by the text alone.

They decide what is run; what a test executes is known only later (`miners.diffs.coupling`). A type
counts if the test, or a unit of the test tree that it uses, names it. A method counts if its name
is called besides: on the type, on a subtype, or on an unnamed receiver if few types of the source
tree declare such a method.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from coevo.languages.declarations import Import, LocatedType, Member
from coevo.languages.reading import RevisionTree, Side
from coevo.model.dependencies import CoupledBy
from miners.diffs.contexts import Test, TestTree, TreeUnit
from miners.diffs.coupling import CoupledSubject, NamingKind, Reference
from miners.diffs.sources import SourceChange

FEW = 3
"""The maximal number of types that declare a method for a call on an unnamed receiver to count."""


class SourceIndex:
    """The types of a revision's source tree: which methods they declare, and their subtypes."""

    def __init__(self, tree: RevisionTree) -> None:
        self.tree = tree

    @cached_property
    def _located_types(self) -> tuple[LocatedType, ...]:
        return tuple(
            LocatedType(path, type_)
            for path in self.tree.list_paths(Side.SOURCE)
            for type_ in self.tree.parse_file(path).types
        )

    @cached_property
    def type_names(self) -> frozenset[str]:
        """The canonical names of all types of the sources."""
        return frozenset(located.canonical_name for located in self._located_types)

    @cached_property
    def type_counts_by_method_name(self) -> dict[str, int]:
        """The number of types that declare a method of each name."""
        counts: dict[str, int] = defaultdict(int)
        for located in self._located_types:
            for name in {m.name for m in located.type.members if m.kind == 'method'}:
                counts[name] += 1
        return dict(counts)

    @cached_property
    def _direct_subtypes(self) -> dict[str, set[str]]:
        subtypes: dict[str, set[str]] = defaultdict(set)
        tests = (t for types in self.tree.test_types.values() for t in types)
        for located in (*self._located_types, *tests):
            for parent in (located.type.superclass or '', *located.type.interfaces):
                subtypes[parent].add(located.type.simple)
        return subtypes

    def find_subtypes(self, simple: str) -> frozenset[str]:
        """Return the simple names of all direct and indirect subtypes of a simple name."""
        simple_names: set[str] = set()
        queue = [simple]
        while queue:
            new = self._direct_subtypes.get(queue.pop(), set()) - simple_names
            simple_names |= new
            queue += new
        return frozenset(simple_names - {simple})


@lru_cache(maxsize=4)
def get_source_index(tree: RevisionTree) -> SourceIndex:
    """Return the index of a tree, cached."""
    return SourceIndex(tree)


_Statics = Mapping[str, Sequence[Import]]
"""Static imports by the type from which they take members."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UsedUnits:
    """The units that a test uses in the test tree, and all that they name and call.

    importing  the units in files with static imports from the sources
    """

    units: tuple[TreeUnit, ...]
    names: frozenset[str]
    calls: frozenset[str]
    importing: tuple[tuple[TreeUnit, _Statics], ...]


class RevisionDependencies:
    """Finds how the tests of one end of a pair refer to the source changes.

    The changes are taken as they are at that end.
    """

    def __init__(self, tests: TestTree, changes: Iterable[SourceChange], *, is_new: bool) -> None:
        self.tests = tests
        self._index = get_source_index(tests.tree)
        self._is_new = is_new
        self._static_imports: dict[str, _Statics] = {}
        self._visible: dict[tuple[str, str, int], bool] = {}
        seen = [(change, *self._locate_change(change)) for change in changes]
        self._targets = [(c, located, member) for c, located, member in seen if located is not None]

    def _locate_change(self, change: SourceChange) -> tuple[LocatedType | None, Member | None]:
        """Return the type and member of a change at this end.

        No type if the change does not exist here; no member if the change is of the type itself.
        """
        located = change.new if self._is_new else change.old
        member = change.new_member if self._is_new else change.old_member
        if member is None and change.member is not None:
            return None, None
        return located, member

    def list_names_of_changes(self) -> frozenset[str]:
        """Return names of changed declarations and their subtypes.

        A test file that contains none of them cannot refer to a change.
        """
        names: set[str] = set()
        for _, located, member in self._targets:
            names.add(located.type.simple)
            if member is not None and member.kind == 'method':
                names |= self._index.find_subtypes(located.type.simple)
                if self._has_rare_name(member):
                    names.add(member.name)
        return frozenset(names)

    def find_references(self, test: Test) -> Iterator[Reference]:
        """Yield for each change to which a test of this end refers how it does."""
        if not self._targets:
            return
        own, *helpers = self.tests.compute_closure(test)
        units = _UsedUnits(
            units=(own, *helpers),
            names=frozenset().union(*(unit.names for unit in (own, *helpers))),
            calls=frozenset().union(*(unit.calls for unit in (own, *helpers))),
            importing=tuple(self._list_importing_units((own, *helpers))),
        )
        subject = CoupledSubject.from_test(test.method)
        for change, located, member in self._targets:
            how = self._classify_naming(located, member, units)
            if how is None:
                continue
            word = member.name if member else located.type.simple
            count = own.member.tokens.count(word) if own.member else 0
            is_own = count > 0 and (member is None or word in own.calls)
            if not is_own:
                count = sum(u.member.tokens.count(word) for u in helpers if u.member)
            yield Reference(
                change=change,
                subject=subject,
                by=CoupledBy.CALL if is_own else CoupledBy.HELPER,
                how=how,
                count=count,
            )

    def _list_importing_units(
        self, units: Iterable[TreeUnit]
    ) -> Iterator[tuple[TreeUnit, _Statics]]:
        for unit in units:
            if statics := self._get_static_imports(unit.path):
                yield unit, statics

    def _classify_naming(
        self, located: LocatedType, member: Member | None, units: _UsedUnits
    ) -> NamingKind | None:
        if member is not None and member.name not in units.calls:
            return None
        if self._is_named(located, member, units):
            return NamingKind.NAMED
        if member is None or member.kind == 'constructor':
            return None
        if not units.names.isdisjoint(self._index.find_subtypes(located.type.simple)):
            return NamingKind.BY_SUBTYPE
        return NamingKind.UNNAMED if self._has_rare_name(member) else None

    def _is_named(self, located: LocatedType, member: Member | None, units: _UsedUnits) -> bool:
        simple = located.type.simple
        if simple in units.names and any(
            simple in unit.names and self._is_visible(unit.path, located) for unit in units.units
        ):
            return True
        canonical = located.canonical_name
        return any(
            _uses_import(static_import, located, member, unit)
            for unit, statics in units.importing
            for static_import in statics.get(canonical, ())
        )

    def _is_visible(self, path: str, located: LocatedType) -> bool:
        key = (path, located.path, id(located.type))
        if key not in self._visible:
            self._visible[key] = self.tests.tree.is_visible(path, located)
        return self._visible[key]

    def _get_static_imports(self, path: str) -> _Statics:
        """Return the imports of a file that take members out of types of the project, by the type.

        Each language says which imports these are: in Java the static ones, in Python most `from`
        imports, in Go imports of all names of a package.
        """
        if path not in self._static_imports:
            imports_by_type: dict[str, list[Import]] = defaultdict(list)
            for import_ in self.tests.tree.parse_file(path).imports:
                if (
                    import_.static
                    and (holder := _get_static_import_owner(import_)) in self._index.type_names
                ):
                    imports_by_type[holder].append(import_)
            self._static_imports[path] = dict(imports_by_type)
        return self._static_imports[path]

    def _has_rare_name(self, member: Member) -> bool:
        return (
            member.name not in self.tests.reading.COMMON_CALLS
            and self._index.type_counts_by_method_name.get(member.name, 0) <= FEW
        )


def _get_static_import_owner(item: Import) -> str:
    return item.text if item.name == '*' else item.text.rpartition('.')[0]


def _uses_import(item: Import, located: LocatedType, member: Member | None, unit: TreeUnit) -> bool:
    """Return whether a unit uses a member of a type, or any member, through a static import."""
    if member is not None:
        return member.name in unit.calls and item.name in ('*', member.name)
    fields = {m.name for m in located.type.members if m.kind == 'field'} | located.type.names
    return not unit.names.isdisjoint(fields if item.name == '*' else {item.name})
