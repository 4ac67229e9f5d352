"""Which declarations of the code are seen to call which: by a run of one test that executes both, and by text.

A trace tells what was executed and not by whom. A declaration calls another where one test executes both and
the text of the one names the other in a call. Names that calls mean for a library far more often than for a
project are no evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.reading import Tree
from coevo.languages.table import reading
from coevo.languages.traces import ExecutedMethod

_KINDS = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Declared:
    """A method or constructor where it is declared; one object each, whatever executes it."""

    file: str
    type: DeclaredType
    member: Member

    @property
    def called_as(self) -> str:
        return self.type.simple if self.member.kind == 'constructor' else self.member.name

    def calls(self, other: Declared, common: frozenset[str]) -> bool:
        name = other.called_as
        return self is not other and name in self.member.calls and name not in common


@dataclass(slots=True, kw_only=True)
class Declarations:
    """The declarations of a revision that executed methods belong to, each looked up once."""

    tree: Tree
    language: str
    _of: dict[ExecutedMethod, Declared | None] = field(default_factory=dict)
    _files: dict[str, tuple[Declared, ...]] = field(default_factory=dict)

    def of(self, method: ExecutedMethod) -> Declared | None:
        """None of what is no method or constructor of the code, such as the rest of a class."""
        if method not in self._of:
            self._of[method] = self._found(method)
        return self._of[method]

    def _found(self, method: ExecutedMethod) -> Declared | None:
        if method.file is None or not self.tree.is_source(method.file):
            return None
        if method.file not in self.tree.entries:
            return None
        is_part_of = reading(self.language).is_part_of
        return next(
            (one for one in self.declared(method.file) if is_part_of(method, one.member, one.type)),
            None,
        )

    def declared(self, path: str) -> tuple[Declared, ...]:
        if path not in self._files:
            self._files[path] = tuple(
                Declared(file=path, type=type_, member=member)
                for type_ in self.tree.file(path).types
                for member in type_.members
                if member.kind in _KINDS
            )
        return self._files[path]

    def executed(self, methods: Iterable[ExecutedMethod]) -> tuple[Declared, ...]:
        """Those that methods belong to, each once, in their order."""
        found = (self.of(method) for method in methods)
        return tuple(dict.fromkeys(one for one in found if one is not None))

    def callees(self, caller: Declared, executed: Iterable[Declared]) -> Iterator[Declared]:
        """What of the executed a declaration calls, itself left out."""
        common = reading(self.language).COMMON_CALLS
        return (one for one in executed if caller.calls(one, common))

    def calls_across(self, executed: Sequence[Declared], files: frozenset[str]) -> bool:
        """Whether a declaration in one of some files calls one in another of them."""
        common = reading(self.language).COMMON_CALLS
        by_name: dict[str, list[Declared]] = defaultdict(list)
        inside = [one for one in executed if one.file in files]
        for one in inside:
            by_name[one.called_as].append(one)
        return any(
            other.file != one.file
            for one in inside
            for name in one.member.calls - common
            for other in by_name.get(name, ())
        )
