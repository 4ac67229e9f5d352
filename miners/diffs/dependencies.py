"""The changed production declarations that a test refers to, as the text alone tells.

They choose what is run; what a test executes is known later (`miners.diffs.delta`). A type counts where the test, or what
it uses in the test tree, names it; a method where its name is called besides, on the type, on a
subtype, or on an unnamed receiver if few types of the source tree declare it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Mapping
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from functools import lru_cache

from coevo.languages.declarations import Import
from coevo.languages.declarations import Located
from coevo.languages.declarations import Member
from coevo.languages.layout import Side
from coevo.languages.reading import Tree
from coevo.model.dependencies import CoupledBy
from miners.diffs.contexts import Test
from miners.diffs.contexts import TestTree
from miners.diffs.contexts import Unit
from miners.diffs.coupling import CoupledSubject
from miners.diffs.coupling import How
from miners.diffs.coupling import Reference
from miners.diffs.sources import SourceChange

FEW = 3
"""Most types that may declare a method for a call on an unnamed receiver to mean it."""


class SourceIndex:
    """Which types of a revision's source tree declare a method, and their subtypes."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree

    @cached_property
    def _located(self) -> tuple[Located, ...]:
        return tuple(
            Located(path, type_)
            for path in self.tree.paths(Side.SOURCE)
            for type_ in self.tree.file(path).types
        )

    @cached_property
    def names(self) -> frozenset[str]:
        """Canonical names of all source types."""
        return frozenset(located.canonical for located in self._located)

    @cached_property
    def declaring(self) -> dict[str, int]:
        """In how many types each method name is declared."""
        found: dict[str, int] = defaultdict(int)
        for located in self._located:
            for name in {m.name for m in located.type.members if m.kind == 'method'}:
                found[name] += 1
        return dict(found)

    @cached_property
    def _direct(self) -> dict[str, set[str]]:
        found: dict[str, set[str]] = defaultdict(set)
        tests = (t for types in self.tree.test_types.values() for t in types)
        for located in (*self._located, *tests):
            for parent in (located.type.superclass or '', *located.type.interfaces):
                found[parent].add(located.type.simple)
        return found

    def subtypes(self, simple: str) -> frozenset[str]:
        """Simple names of all subtypes, by simple names."""
        found: set[str] = set()
        queue = [simple]
        while queue:
            new = self._direct.get(queue.pop(), set()) - found
            found |= new
            queue += new
        return frozenset(found - {simple})


@lru_cache(maxsize=4)
def source_index(tree: Tree) -> SourceIndex:
    return SourceIndex(tree)


_Statics = Mapping[str, Sequence[Import]]
"""Static imports by the type that they take from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Units:
    """What a test uses in the test tree, and all that it names and calls there.

    importing  those in files with static imports from the sources
    """

    units: tuple[Unit, ...]
    names: frozenset[str]
    calls: frozenset[str]
    importing: tuple[tuple[Unit, _Statics], ...]


class PairEnd:
    """The tests of one end of a pair against the source changes, as that end sees them."""

    def __init__(self, tests: TestTree, changes: Iterable[SourceChange], *, is_new: bool) -> None:
        self.tests = tests
        self._index = source_index(tests.tree)
        self._is_new = is_new
        self._static_imports: dict[str, _Statics] = {}
        self._visible: dict[tuple[str, str, int], bool] = {}
        seen = [(change, *self._seen(change)) for change in changes]
        self._targets = [(c, located, member) for c, located, member in seen if located is not None]

    def _seen(self, change: SourceChange) -> tuple[Located | None, Member | None]:
        """The type and member of a change at this end; no type where it does not stand here."""
        located = change.new if self._is_new else change.old
        member = change.new_member if self._is_new else change.old_member
        if member is None and change.member is not None:
            return None, None
        return located, member

    def mentions(self) -> frozenset[str]:
        """Names without one of which a test file cannot refer to a change."""
        found: set[str] = set()
        for _, located, member in self._targets:
            found.add(located.type.simple)
            if member is not None and member.kind == 'method':
                found |= self._index.subtypes(located.type.simple)
                if self._is_rare(member):
                    found.add(member.name)
        return frozenset(found)

    def references(self, test: Test) -> Iterator[Reference]:
        """How a test of this end refers to the changes, those that it does not left out."""
        if not self._targets:
            return
        own, *helpers = self.tests.closure(test)
        units = _Units(
            units=(own, *helpers),
            names=frozenset().union(*(unit.names for unit in (own, *helpers))),
            calls=frozenset().union(*(unit.calls for unit in (own, *helpers))),
            importing=tuple(self._importing((own, *helpers))),
        )
        subject = CoupledSubject.of(test.method)
        for change, located, member in self._targets:
            how = self._how(located, member, units)
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

    def _importing(self, units: Iterable[Unit]) -> Iterator[tuple[Unit, _Statics]]:
        for unit in units:
            if statics := self._statics(unit.path):
                yield unit, statics

    def _how(self, located: Located, member: Member | None, units: _Units) -> How | None:
        if member is not None and member.name not in units.calls:
            return None
        if self._is_named(located, member, units):
            return How.NAMED
        if member is None or member.kind == 'constructor':
            return None
        if not units.names.isdisjoint(self._index.subtypes(located.type.simple)):
            return How.BY_SUBTYPE
        return How.UNNAMED if self._is_rare(member) else None

    def _is_named(self, located: Located, member: Member | None, units: _Units) -> bool:
        simple = located.type.simple
        if simple in units.names and any(
            simple in unit.names and self._is_visible(unit.path, located) for unit in units.units
        ):
            return True
        canonical = located.canonical
        return any(
            _takes(found, located, member, unit)
            for unit, statics in units.importing
            for found in statics.get(canonical, ())
        )

    def _is_visible(self, path: str, located: Located) -> bool:
        key = (path, located.path, id(located.type))
        if key not in self._visible:
            self._visible[key] = self.tests.tree.visible(path, located)
        return self._visible[key]

    def _statics(self, path: str) -> _Statics:
        """The static imports of a file by the type of the project's sources that they take from."""
        if path not in self._static_imports:
            found: dict[str, list[Import]] = defaultdict(list)
            for one in self.tests.tree.file(path).imports:
                if one.static and (holder := _holder(one)) in self._index.names:
                    found[holder].append(one)
            self._static_imports[path] = dict(found)
        return self._static_imports[path]

    def _is_rare(self, member: Member) -> bool:
        return (
            member.name not in self.tests.reading.COMMON_CALLS
            and self._index.declaring.get(member.name, 0) <= FEW
        )


def _holder(item: Import) -> str:
    return item.text if item.name == '*' else item.text.rpartition('.')[0]


def _takes(item: Import, located: Located, member: Member | None, unit: Unit) -> bool:
    """Whether a unit uses a member of a type, or any, through a static import from it."""
    if member is not None:
        return member.name in unit.calls and item.name in ('*', member.name)
    fields = {m.name for m in located.type.members if m.kind == 'field'} | located.type.names
    return not unit.names.isdisjoint(fields if item.name == '*' else {item.name})
