"""Which declarations of the code are seen to call which: by a run of one test that executes both, and by text.

A trace tells what was executed and not by whom. A declaration calls another where one test executes both and
the text of the one names the other in a call. Names that calls mean for a library far more often than for a
project are no evidence.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from coevo.languages.declarations import DeclaredType, Member
from coevo.languages.reading import RevisionTree
from coevo.languages.table import get_reading
from coevo.languages.traces import ExecutedMethod

_KINDS = ('method', 'constructor')


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CallableDeclaration:
    """A method or constructor where it is declared; one object each, whatever executes it."""

    file: str
    type: DeclaredType
    member: Member

    @property
    def call_name(self) -> str:
        return self.type.simple if self.member.kind == 'constructor' else self.member.name

    def calls(self, other: CallableDeclaration, common: frozenset[str]) -> bool:
        name = other.call_name
        return self is not other and name in self.member.calls and name not in common


@dataclass(slots=True, kw_only=True)
class Declarations:
    """The declarations of a revision that executed methods belong to, each looked up once."""

    tree: RevisionTree
    language: str
    _of: dict[ExecutedMethod, CallableDeclaration | None] = field(default_factory=dict)
    _files: dict[str, tuple[CallableDeclaration, ...]] = field(default_factory=dict)

    def find_declaration(self, method: ExecutedMethod) -> CallableDeclaration | None:
        """None of what is no method or constructor of the code, such as the rest of a class."""
        if method not in self._of:
            self._of[method] = self._look_up(method)
        return self._of[method]

    def _look_up(self, method: ExecutedMethod) -> CallableDeclaration | None:
        if method.file is None or not self.tree.is_source(method.file):
            return None
        if method.file not in self.tree.entries:
            return None
        is_part_of = get_reading(self.language).is_part_of
        return next(
            (
                declaration
                for declaration in self.list_in_file(method.file)
                if is_part_of(method, declaration.member, declaration.type)
            ),
            None,
        )

    def list_in_file(self, path: str) -> tuple[CallableDeclaration, ...]:
        if path not in self._files:
            self._files[path] = tuple(
                CallableDeclaration(file=path, type=type_, member=member)
                for type_ in self.tree.parse_file(path).types
                for member in type_.members
                if member.kind in _KINDS
            )
        return self._files[path]

    def find_executed(self, methods: Iterable[ExecutedMethod]) -> tuple[CallableDeclaration, ...]:
        """Those that methods belong to, each once, in their order."""
        declarations = (self.find_declaration(method) for method in methods)
        return tuple(
            dict.fromkeys(declaration for declaration in declarations if declaration is not None)
        )

    def list_callees(
        self, caller: CallableDeclaration, executed: Iterable[CallableDeclaration]
    ) -> Iterator[CallableDeclaration]:
        """What of the executed a declaration calls, itself left out."""
        common = get_reading(self.language).COMMON_CALLS
        return (declaration for declaration in executed if caller.calls(declaration, common))

    def has_cross_file_call(
        self, executed: Sequence[CallableDeclaration], files: frozenset[str]
    ) -> bool:
        """Whether a declaration in one of some files calls one in another of them."""
        common = get_reading(self.language).COMMON_CALLS
        by_name: dict[str, list[CallableDeclaration]] = defaultdict(list)
        inside = [declaration for declaration in executed if declaration.file in files]
        for declaration in inside:
            by_name[declaration.call_name].append(declaration)
        return any(
            other.file != declaration.file
            for declaration in inside
            for name in declaration.member.calls - common
            for other in by_name.get(name, ())
        )
