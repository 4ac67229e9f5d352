"""Find what a test method uses in the test tree: its closure over fixtures, members and types."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType, Import, LocatedType, Member
from coevo.languages.reading import LanguageReading, RevisionTree, Side
from coevo.languages.table import get_reading
from coevo.model.records import TestMethod, compute_short_hash
from miners.diffs.mentions import MentionIndex
from miners.diffs.resources import is_named_by_literal, list_resource_stems


@dataclass(frozen=True, slots=True, eq=False)
class TreeUnit:
    """A member of a type in the test tree, or the type's shape if `member` is None.

    Each member and shape has one object, so units are compared by identity.
    """

    path: str
    type: DeclaredType
    member: Member | None

    @property
    def names(self) -> frozenset[str]:
        """The identifiers in the unit."""
        return self.member.names if self.member else self.type.names

    @property
    def calls(self) -> frozenset[str]:
        """The names that the unit calls."""
        return self.member.calls if self.member else self.type.calls

    @property
    def strings(self) -> frozenset[str]:
        """The string literals in the unit."""
        return self.member.strings if self.member else self.type.strings

    @property
    def content_key(self) -> str:
        """A hash of the unit's tokens, with its kind and name but without the name of its class.

        So it stays the same if the class moves or is renamed.
        """
        if self.member is None:
            return self.type.shape_hash
        name = '' if self.member.kind == 'constructor' else self.member.name
        return f'{self.member.kind} {name} {self.member.bare_hash}'


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """A test method in a test tree."""

    __test__ = False

    method: TestMethod
    unit: TreeUnit

    @property
    def member(self) -> Member:
        """The declaration of the test method."""
        assert self.unit.member is not None
        return self.unit.member


@dataclass(frozen=True, slots=True, kw_only=True)
class _Uses:
    """The names that a unit uses in one way only.

    of_types    only as members of other types, such as `Till.price`
    of_objects  only as members of other types or of objects, such as `till.price` or `a().price`
    """

    of_types: AbstractSet[str] = frozenset()
    of_objects: AbstractSet[str] = frozenset()


_NO_USES = _Uses()

# Words for the object whose own member is meant.
_ITSELF = frozenset({'this', 'super', 'self', 'cls'})


class TestTree:
    """The test methods of a revision's test tree and what they use, computed on demand."""

    __test__ = False

    def __init__(self, reading: LanguageReading, tree: RevisionTree) -> None:
        self.tree = tree
        self.reading = reading
        self._units: dict[tuple[str, str], dict[str, list[TreeUnit]]] = {}
        self._shapes: dict[tuple[str, str], TreeUnit] = {}
        self._edges: dict[TreeUnit, tuple[TreeUnit, ...]] = {}
        self._closures: dict[TreeUnit, tuple[TreeUnit, ...]] = {}
        self._parents: dict[tuple[str, str], tuple[LocatedType, ...]] = {}
        self._ancestry: dict[tuple[str, str], tuple[LocatedType, ...]] = {}
        self._scopes: dict[tuple[str, str], tuple[LocatedType, ...]] = {}
        self._surroundings: dict[tuple[str, str], tuple[TreeUnit, ...]] = {}
        self._tests: dict[str, tuple[Test, ...]] = {}

    def list_tests(self, path: str) -> tuple[Test, ...]:
        """Return the test methods that a file declares."""
        if path not in self._tests:
            self._tests[path] = tuple(self._find_tests(path))
        return self._tests[path]

    def _find_tests(self, path: str) -> Iterator[Test]:
        def resolve(simple: str) -> list[DeclaredType]:
            """Return the types in the test tree that a simple name may mean in the file."""
            return [located.type for located in self.tree.resolve_test_type(path, simple)]

        module = self.tree.find_module_folder(path)
        for type_, member in self.reading.find_tests(self.tree.parse_file(path), resolve):
            units = self._get_members(LocatedType(path, type_)).get(member.name, ())
            unit = next((unit for unit in units if unit.member is member), None)
            if unit is None:
                continue  # the name of its type occurs twice in the file, which no compiler accepts
            yield Test(
                TestMethod(
                    module=module,
                    test_file=path,
                    test_class=type_.name,
                    test_method=member.name,
                    parameters=member.parameters,
                ),
                unit,
            )

    def list_units(self, path: str) -> tuple[TreeUnit, ...]:
        """Return the members and the shapes of all types of a test file, each once."""
        units: dict[TreeUnit, None] = {}
        for type_ in self.tree.parse_file(path).types:
            located = LocatedType(path, type_)
            units[self._get_shape(located)] = None
            for members in self._get_members(located).values():
                units |= dict.fromkeys(members)
        return tuple(units)

    def list_all_units(self) -> Iterator[TreeUnit]:
        """Yield the members and the shapes of all types of all test files."""
        for path in self.tree.list_paths(Side.TEST):
            yield from self.list_units(path)

    @cached_property
    def mentions(self) -> MentionIndex:
        """The test files by the names that they mention."""
        return MentionIndex(self.tree)

    def compute_closure(self, test: Test) -> tuple[TreeUnit, ...]:
        """Return everything in the test tree that a test uses, directly or indirectly.

        The test itself comes first, and closer units come earlier.
        """
        if test.unit not in self._closures:
            seen = dict.fromkeys([test.unit, *self._get_fixtures(test)])
            queue = deque(seen)
            while queue:
                new = [unit for unit in self.list_used_units(queue.popleft()) if unit not in seen]
                seen |= dict.fromkeys(new)
                queue.extend(new)
            self._closures[test.unit] = tuple(seen)
        return self._closures[test.unit]

    def hash_context(self, test: Test) -> str:
        """Return a hash of what a test uses in the test tree besides its own body.

        It does not depend on where that is declared.
        """
        return compute_short_hash(
            *sorted({unit.content_key for unit in self.compute_closure(test)[1:]})
        )

    def find_named_resources(self, test: Test, paths: Iterable[str]) -> set[str]:
        """Return those of the paths that are resources of a test.

        A string literal in its closure names them, or they are named after the test or its file, as
        recorded snapshots and answers of services are.
        """
        literals = {text for unit in self.compute_closure(test) for text in unit.strings}
        return {
            path
            for path in paths
            if any(is_named_by_literal(self.reading, path, text) for text in literals)
            or self._is_named_after(path, test.method)
        }

    def _is_named_after(self, path: str, method: TestMethod) -> bool:
        stems = list_resource_stems(self.reading, path)
        if method.test_method in stems:
            return True
        file_stem = PurePosixPath(method.test_file).stem
        if file_stem not in stems or path not in self.tree.entries:
            return False
        return method.test_method.encode() in self.tree.read_content(path)

    def _get_fixtures(self, test: Test) -> tuple[TreeUnit, ...]:
        """Return what the framework runs around a test: fixtures and set-up.

        Those of its class, of enclosing classes and of all their ancestors count.
        """
        key = (test.unit.path, test.unit.type.name)
        if key not in self._surroundings:
            own = LocatedType(test.unit.path, test.unit.type)
            self._surroundings[key] = tuple(self._find_fixtures(own))
        return self._surroundings[key]

    def _find_fixtures(self, own: LocatedType) -> Iterator[TreeUnit]:
        for located in self._get_scope(own):
            yield self._get_shape(located)
            yield from self._list_own_fixtures(located)
        for located in self.tree.find_types_sharing_fixtures(own.path):
            yield from self._list_own_fixtures(located)

    def _list_own_fixtures(self, located: LocatedType) -> Iterator[TreeUnit]:
        for units in self._get_members(located).values():
            yield from (u for u in units if u.member and self.reading.is_run_by_framework(u.member))

    def list_used_units(self, unit: TreeUnit) -> tuple[TreeUnit, ...]:
        """Return the units that one unit refers to by name."""
        if unit not in self._edges:
            self._edges[unit] = tuple(dict.fromkeys(self._find_references(unit)))
        return self._edges[unit]

    def _find_references(self, unit: TreeUnit) -> Iterator[TreeUnit]:
        own = LocatedType(unit.path, unit.type)
        scope = self._get_scope(own)
        uses = _find_uses(unit, {located.type.simple for located in scope})
        for located in scope:
            yield from self._find_named_members(located, unit, uses)
        if unit.member is not None and self.reading.may_request_any_fixture(unit.member):
            yield from self._find_injectable_units(own)
        known = self.tree.test_types
        statics = [i for i in self.tree.parse_file(unit.path).imports if i.static]
        simples = set(unit.names & self._known_types)
        simples |= {
            _get_static_import_owner(i.text, i.name)
            for i in statics
            if i.name in unit.names or i.name == '*'
        }
        for simple in sorted(simples - {unit.type.simple}):
            resolved = (
                self.tree.resolve_test_type(unit.path, simple) if simple in unit.names else ()
            )
            # Once for each ancestor: all files of a package of Go have its name and each other.
            ancestors = {
                (ancestor.path, ancestor.type.name, located.type.simple in unit.calls): ancestor
                for located in resolved or known.get(simple, ())
                if resolved or _is_imported_from(located, statics)
                for ancestor in self._get_ancestors(located)
            }
            for (_, _, created), ancestor in ancestors.items():
                yield from self._find_in_ancestor(ancestor, unit, created=created)
        yield from self._find_called_methods_of_code_types(unit)

    def _find_called_methods_of_code_types(self, unit: TreeUnit) -> Iterator[TreeUnit]:
        """Yield the methods that a unit calls and that its module's tests add to types of the code.

        The unit need not name such a type, since the code may make the object: `shop.New().Peek()`.
        """
        if self._methods_of_code_types:
            module = self.tree.find_module_folder(unit.path)
            for name in sorted(unit.calls):
                for added in self._methods_of_code_types.get((module, name), ()):
                    if added is not unit:
                        yield added

    @cached_property
    def _methods_of_code_types(self) -> dict[tuple[str, str], list[TreeUnit]]:
        """The methods that test files declare of types of the code, by module and name."""
        added: dict[tuple[str, str], list[TreeUnit]] = {}
        for types in self.tree.test_types.values():
            elsewhere = [located for located in types if located.type.is_elsewhere]
            declared = {
                (self.tree.find_module_folder(located.path), located.type.name)
                for located in types
                if not located.type.is_elsewhere and elsewhere
            }
            for located in elsewhere:
                module = self.tree.find_module_folder(located.path)
                if (module, located.type.name) not in declared:
                    for name, units in self._get_members(located).items():
                        added.setdefault((module, name), []).extend(units)
        return added

    @cached_property
    def _known_types(self) -> frozenset[str]:
        """The simple names of all types of the test tree."""
        return frozenset(self.tree.test_types)

    def _find_in_ancestor(
        self, ancestor: LocatedType, unit: TreeUnit, *, created: bool
    ) -> Iterator[TreeUnit]:
        """Yield the units of one ancestor that naming a type brings in.

        These are its shape, the members that the unit names, initialisers, overrides, and
        constructors if the unit creates the type.
        """
        yield self._get_shape(ancestor)
        yield from self._find_named_members(ancestor, unit)
        for units in self._get_members(ancestor).values():
            for member_unit in units:
                assert member_unit.member is not None
                if member_unit.member.kind == 'initializer' or (
                    member_unit.member.kind == 'constructor' and created
                ):
                    yield member_unit
                elif 'Override' in member_unit.member.annotations:
                    yield member_unit  # called by the code to which the object is passed

    def _find_named_members(
        self, located: LocatedType, unit: TreeUnit, uses: _Uses = _NO_USES
    ) -> Iterator[TreeUnit]:
        """Yield the members of a type that a unit names, but for what it names as another's.

        A name that is used of other types alone is no member of this one. Tests are no members of
        objects, either: `till.price()` is not the test `price` of the same class.
        """
        members = self._get_members(located)
        spelled = unit.strings | find_implied_method_source(unit)
        methods = (unit.calls - uses.of_types) | spelled
        for name in sorted(((unit.names - uses.of_types) | methods) & members.keys()):
            for member_unit in members[name]:
                assert member_unit.member is not None
                if member_unit is unit or (
                    name in uses.of_objects - spelled and self._is_test(member_unit)
                ):
                    continue
                if member_unit.member.kind == 'field' or name in methods:
                    yield member_unit

    def _is_test(self, unit: TreeUnit) -> bool:
        return any(test.unit is unit for test in self.list_tests(unit.path))

    def _find_injectable_units(self, own: LocatedType) -> Iterator[TreeUnit]:
        """Yield all units in the scope of a type that the framework injects by name."""
        for located in self._get_scope(own):
            for units in self._get_members(located).values():
                yield from (
                    u
                    for u in units
                    if u.member and self.reading.list_provided_fixture_names(u.member)
                )

    def _get_scope(self, own: LocatedType) -> tuple[LocatedType, ...]:
        """Return a type, its enclosing types, and the ancestors of each."""
        key = (own.path, own.type.name)
        if key not in self._scopes:
            self._scopes[key] = tuple(self._find_scope(own))
        return self._scopes[key]

    def _find_scope(self, own: LocatedType) -> Iterator[LocatedType]:
        around = [
            LocatedType(own.path, type_)
            for type_ in self.tree.parse_file(own.path).types
            if own.type.name.startswith(f'{type_.name}$')
        ]
        for located in [own, *reversed(around)]:
            yield from self._get_ancestors(located)

    def _get_ancestors(self, located: LocatedType) -> tuple[LocatedType, ...]:
        """Return a type and its supertypes in the test tree."""
        key = (located.path, located.type.name)
        if key not in self._ancestry:
            ancestors = {key: located}
            queue = [located]
            while queue:
                for parent in self._get_parents(queue.pop(0)):
                    if (parent.path, parent.type.name) not in ancestors:
                        ancestors[parent.path, parent.type.name] = parent
                        queue.append(parent)
            self._ancestry[key] = tuple(ancestors.values())
        return self._ancestry[key]

    def _get_parents(self, located: LocatedType) -> tuple[LocatedType, ...]:
        """Return the direct supertypes of a type in the test tree.

        Cached, since the files of a package of Go are all supertypes of each other.
        """
        key = (located.path, located.type.name)
        if key not in self._parents:
            supers = (located.type.superclass or '', *located.type.interfaces)
            self._parents[key] = tuple(
                parent
                for name in supers
                for parent in self.tree.resolve_test_type(located.path, name)
            )
        return self._parents[key]

    def _get_members(self, located: LocatedType) -> dict[str, list[TreeUnit]]:
        key = (located.path, located.type.name)
        if key not in self._units:
            units_by_name: dict[str, list[TreeUnit]] = {}
            for member in located.type.members:
                unit = TreeUnit(located.path, located.type, member)
                for name in {member.name, *self.reading.list_provided_fixture_names(member)}:
                    units_by_name.setdefault(name, []).append(unit)
            self._units[key] = units_by_name
        return self._units[key]

    def _get_shape(self, located: LocatedType) -> TreeUnit:
        key = (located.path, located.type.name)
        if key not in self._shapes:
            self._shapes[key] = TreeUnit(located.path, located.type, None)
        return self._shapes[key]


@lru_cache(maxsize=4)
def load_test_tree(repository: Repository, rev: str, language: str) -> TestTree:
    """Return the test tree of a revision; the last few are cached.

    Neighbouring pairs of a walk share an end.
    """
    parsed = get_reading(language)
    return TestTree(parsed, parsed.open_tree(repository, rev))


def find_implied_method_source(unit: TreeUnit) -> frozenset[str]:
    """Return the test's own name if it has `@MethodSource`, else nothing.

    Without arguments this annotation refers to a method of the test's name.
    """
    if unit.member is None or 'MethodSource' not in unit.member.annotations:
        return frozenset()
    return frozenset({unit.member.name})


def _is_imported_from(located: LocatedType, statics: Iterable[Import]) -> bool:
    canonical = located.canonical_name
    return any(static_import.text.startswith(canonical) for static_import in statics)


def _find_uses(unit: TreeUnit, own: AbstractSet[str]) -> _Uses:
    """Return how a unit uses the names in its text.

    own  the simple names of the unit's type, of those around it, and of their ancestors
    """
    tokens = unit.member.tokens if unit.member else ()
    of_types: set[str] = set()
    of_objects: set[str] = set()
    plain: set[str] = set()
    for holder, dot, name in zip(('', '', *tokens), ('', *tokens), tokens, strict=False):
        if dot not in ('.', '::') or holder in own or holder in _ITSELF:
            plain.add(name)
        else:
            (of_types if holder[:1].isupper() else of_objects).add(name)
    return _Uses(of_types=of_types - of_objects - plain, of_objects=(of_types | of_objects) - plain)


def _get_static_import_owner(text: str, name: str) -> str:
    """Return the simple name of the type from which a static import takes members."""
    qualified = text if name == '*' else text.rpartition('.')[0]
    return qualified.rpartition('.')[2]
