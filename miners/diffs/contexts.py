"""What a test method uses in the test tree: its closure over fixtures, members and types named."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from functools import lru_cache

from coevo.git.repository import Repository
from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Import
from coevo.languages.declarations import Located
from coevo.languages.declarations import Member
from coevo.languages.layout import Side
from coevo.languages.reading import Reading
from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.model.records import TestMethod
from coevo.model.records import short_hash
from miners.diffs.resources import is_named


@dataclass(frozen=True, slots=True, eq=False)
class Unit:
    """A member of a type in the test tree, or with no member the type's shape; one object each."""

    path: str
    type: DeclaredType
    member: Member | None

    @property
    def names(self) -> frozenset[str]:
        return self.member.names if self.member else self.type.names

    @property
    def calls(self) -> frozenset[str]:
        return self.member.calls if self.member else self.type.calls

    @property
    def strings(self) -> frozenset[str]:
        return self.member.strings if self.member else self.type.strings

    @property
    def content(self) -> str:
        """Its tokens' hash, blind to the name of its class: a class may move and be renamed."""
        if self.member is None:
            return self.type.shape_hash
        name = '' if self.member.kind == 'constructor' else self.member.name
        return f'{self.member.kind} {name} {self.member.bare_hash}'


@dataclass(frozen=True, slots=True, eq=False)
class Test:
    """A test method of a tree."""

    __test__ = False

    method: TestMethod
    unit: Unit

    @property
    def member(self) -> Member:
        assert self.unit.member is not None
        return self.unit.member


class TestTree:
    """The test methods of a revision's test tree and what they use; built as it is asked for."""

    __test__ = False

    def __init__(self, reading: Reading, tree: Tree) -> None:
        self.tree = tree
        self.reading = reading
        self._units: dict[tuple[str, str], dict[str, list[Unit]]] = {}
        self._shapes: dict[tuple[str, str], Unit] = {}
        self._edges: dict[Unit, tuple[Unit, ...]] = {}
        self._closures: dict[Unit, tuple[Unit, ...]] = {}
        self._ancestry: dict[tuple[str, str], tuple[Located, ...]] = {}
        self._scopes: dict[tuple[str, str], tuple[Located, ...]] = {}
        self._surroundings: dict[tuple[str, str], tuple[Unit, ...]] = {}
        self._tests: dict[str, tuple[Test, ...]] = {}

    def tests(self, path: str) -> tuple[Test, ...]:
        """The test methods that a file declares."""
        if path not in self._tests:
            self._tests[path] = tuple(self._find_tests(path))
        return self._tests[path]

    def _find_tests(self, path: str) -> Iterator[Test]:
        def resolve(simple: str) -> list[DeclaredType]:
            return [found.type for found in self.tree.resolve(path, simple)]

        module = self.tree.module(path)
        for type_, member in self.reading.find_tests(self.tree.file(path), resolve):
            units = self._members(Located(path, type_)).get(member.name, ())
            unit = next((unit for unit in units if unit.member is member), None)
            if unit is None:
                continue  # its type's name stands twice in the file, which no compiler takes
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

    def closure(self, test: Test) -> tuple[Unit, ...]:
        """Everything in the test tree that a test uses, itself first and nearer things earlier."""
        if test.unit not in self._closures:
            seen = dict.fromkeys([test.unit, *self._fixtures(test)])
            queue = deque(seen)
            while queue:
                new = [found for found in self._used(queue.popleft()) if found not in seen]
                seen |= dict.fromkeys(new)
                queue.extend(new)
            self._closures[test.unit] = tuple(seen)
        return self._closures[test.unit]

    def context(self, test: Test) -> str:
        """A hash of what a test uses besides its own body, blind to where that stands."""
        return short_hash(*sorted({unit.content for unit in self.closure(test)[1:]}))

    def resources(self, test: Test, paths: Iterable[str]) -> set[str]:
        """Those test resources that a string literal in a test's closure names."""
        literals = {text for unit in self.closure(test) for text in unit.strings}
        return {
            path for path in paths if any(is_named(self.reading, path, text) for text in literals)
        }

    def affected(self, changed: set[str], names: frozenset[str]) -> set[str]:
        """Test files that may use, however indirectly, a changed file or one of the names."""
        found = set(changed)
        rest = {p: self._mentions[p] for p in self.tree.paths(Side.TEST) if p not in found}
        wanted = set(names)
        for path in changed & self._mentions.keys():
            wanted |= {type_.simple for type_ in self.tree.file(path).types}
        while new := {path for path, mentions in rest.items() if not wanted.isdisjoint(mentions)}:
            found |= new
            for path in new:
                del rest[path]
                wanted |= {type_.simple for type_ in self.tree.file(path).types}
        return found

    @cached_property
    def _mentions(self) -> dict[str, frozenset[str]]:
        """Per test file the identifiers in it and the types of its static imports."""
        found = {}
        for path in self.tree.paths(Side.TEST):
            file = self.tree.file(path)
            statics = {part for i in file.imports if i.static for part in i.text.split('.')}
            found[path] = file.names | statics
        return found

    def _fixtures(self, test: Test) -> tuple[Unit, ...]:
        """What the framework runs around a test: fixtures and set-up of its class and those above."""
        key = (test.unit.path, test.unit.type.name)
        if key not in self._surroundings:
            own = Located(test.unit.path, test.unit.type)
            self._surroundings[key] = tuple(self._find_fixtures(own))
        return self._surroundings[key]

    def _find_fixtures(self, own: Located) -> Iterator[Unit]:
        for located in self._scope(own):
            yield self._shape(located)
            for units in self._members(located).values():
                yield from (
                    u for u in units if u.member is not None and self.reading.is_fixture(u.member)
                )

    def _used(self, unit: Unit) -> tuple[Unit, ...]:
        """The units that one unit refers to by name."""
        if unit not in self._edges:
            self._edges[unit] = tuple(dict.fromkeys(self._refer(unit)))
        return self._edges[unit]

    def _refer(self, unit: Unit) -> Iterator[Unit]:
        own = Located(unit.path, unit.type)
        for located in self._scope(own):
            yield from self._named(located, unit)
        known = self.tree.test_types
        statics = [i for i in self.tree.file(unit.path).imports if i.static]
        simples = set(unit.names & self._known)
        simples |= {
            _holder(i.text, i.name) for i in statics if i.name in unit.names or i.name == '*'
        }
        for simple in sorted(simples - {unit.type.simple}):
            found = self.tree.resolve(unit.path, simple) if simple in unit.names else ()
            for located in found or known.get(simple, ()):
                if found or _takes_from(located, statics):
                    yield from self._of_type(located, unit)

    @cached_property
    def _known(self) -> frozenset[str]:
        """The simple names of all types of the test tree."""
        return frozenset(self.tree.test_types)

    def _of_type(self, located: Located, unit: Unit) -> Iterator[Unit]:
        """What naming a type brings in: its members named and, if made elsewhere, its overrides."""
        for ancestor in self._ancestors(located):
            yield self._shape(ancestor)
            yield from self._named(ancestor, unit)
            created = located.type.simple in unit.calls
            for units in self._members(ancestor).values():
                for found in units:
                    assert found.member is not None
                    if found.member.kind == 'initializer' or (
                        found.member.kind == 'constructor' and created
                    ):
                        yield found
                    elif 'Override' in found.member.annotations:
                        yield found  # called by whom the object is handed to

    def _named(self, located: Located, unit: Unit) -> Iterator[Unit]:
        members = self._members(located)
        methods = unit.calls | unit.strings | _same_named_source(unit)
        for name in sorted((unit.names | methods) & members.keys()):
            for found in members[name]:
                assert found.member is not None
                if found is not unit and (found.member.kind == 'field' or name in methods):
                    yield found

    def _scope(self, own: Located) -> tuple[Located, ...]:
        """A type, those around it, and the ancestors of each."""
        key = (own.path, own.type.name)
        if key not in self._scopes:
            self._scopes[key] = tuple(self._find_scope(own))
        return self._scopes[key]

    def _find_scope(self, own: Located) -> Iterator[Located]:
        around = [
            Located(own.path, type_)
            for type_ in self.tree.file(own.path).types
            if own.type.name.startswith(f'{type_.name}$')
        ]
        for located in [own, *reversed(around)]:
            yield from self._ancestors(located)

    def _ancestors(self, located: Located) -> tuple[Located, ...]:
        """A type and its supertypes in the test tree."""
        key = (located.path, located.type.name)
        if key not in self._ancestry:
            found = {key: located}
            queue = [located]
            while queue:
                child = queue.pop(0)
                supers = (child.type.superclass or '', *child.type.interfaces)
                for parent in (p for name in supers for p in self.tree.resolve(child.path, name)):
                    if (parent.path, parent.type.name) not in found:
                        found[parent.path, parent.type.name] = parent
                        queue.append(parent)
            self._ancestry[key] = tuple(found.values())
        return self._ancestry[key]

    def _members(self, located: Located) -> dict[str, list[Unit]]:
        key = (located.path, located.type.name)
        if key not in self._units:
            found: dict[str, list[Unit]] = {}
            for member in located.type.members:
                found.setdefault(member.name, []).append(Unit(located.path, located.type, member))
            self._units[key] = found
        return self._units[key]

    def _shape(self, located: Located) -> Unit:
        key = (located.path, located.type.name)
        if key not in self._shapes:
            self._shapes[key] = Unit(located.path, located.type, None)
        return self._shapes[key]


@lru_cache(maxsize=4)
def test_tree(repository: Repository, rev: str, language: str) -> TestTree:
    """Kept since a walk's neighbours share one end."""
    parsed = reading(language)
    return TestTree(parsed, parsed.tree(repository, rev))


def _same_named_source(unit: Unit) -> frozenset[str]:
    """The method that `@MethodSource` means where it names none: one of the test's own name."""
    if unit.member is None or 'MethodSource' not in unit.member.annotations:
        return frozenset()
    return frozenset({unit.member.name})


def _takes_from(located: Located, statics: Iterable[Import]) -> bool:
    canonical = located.canonical
    return any(one.text.startswith(canonical) for one in statics)


def _holder(text: str, name: str) -> str:
    """The simple name of the type that a static import takes from."""
    qualified = text if name == '*' else text.rpartition('.')[0]
    return qualified.rpartition('.')[2]
