"""Which members of a Python file are tests, by the rules of pytest and of unittest.

https://docs.pytest.org/en/stable/explanation/goodpractices.html#conventions-for-python-test-discovery,
https://docs.python.org/3/library/unittest.html#organizing-test-code. What no `def` declares, a test made by a call and
put into a variable for one, is none of ours: it has no text to compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Iterator
from collections.abc import Sequence

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.python.reading.collection import DEFAULT
from coevo.languages.python.reading.collection import PythonFile
from coevo.languages.python.reading.collection import Rules
from coevo.languages.reading import Resolve

FIXTURES = frozenset({'fixture', 'yield_fixture', 'async_fixture'})
# What is no function any more once it is decorated.
_NO_FUNCTION = FIXTURES | {'property', 'cached_property', 'overload', 'setter', 'deleter'}
_AROUND = frozenset(
    {
        *('setUp', 'tearDown', 'setUpClass', 'tearDownClass', 'setUpModule', 'tearDownModule'),
        *('asyncSetUp', 'asyncTearDown', 'setUpTestData', 'setup', 'teardown'),
        *('setup_module', 'teardown_module', 'setup_function', 'teardown_function'),
        *('setup_class', 'teardown_class', 'setup_method', 'teardown_method'),
    }
)
_SETTINGS = frozenset({'pytestmark', 'pytest_plugins', '__test__', 'load_tests'})
_MAIN = ('if', '__name__', '==')
_DEPTH = 20


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """The test methods that a file declares, ignored and disabled ones too, in its order.

    Of a file that stands in no tree the names are those that pytest takes without settings.
    """
    return tuple(_Finder(file, resolve).tests())


def is_collected(file: SourceFile, type_: DeclaredType, resolve: Resolve) -> bool:
    """Whether tests of a class, or module, run under its own name, not only under those of its heirs."""
    return _Finder(file, resolve).is_collected(type_)


def is_fixture(member: Member) -> bool:
    """Whether the framework runs a member by itself: what stands in a module, set-up, hooks, `autouse`.

    A fixture that a test has to name is none of these: it is a helper, as the name that asks for it says.
    """
    if member.kind == 'initializer':
        return member.tokens[:3] != _MAIN
    if member.kind == 'constructor':
        return True
    if member.kind == 'field':
        return member.name in _SETTINGS
    if not FIXTURES.isdisjoint(member.annotations):
        return _is_autouse(member.tokens)
    return member.name in _AROUND or member.name.startswith('pytest_')


def extended(classes: Iterable[tuple[str, Sequence[str]]], rules: Rules) -> frozenset[str]:
    """Of classes and their bases, by simple names: what collected ones derive from, however far."""
    found: set[str] = set()
    left = list(classes)
    while heirs := [
        one for one in left if one[0] in found or _is_collected_by_name(*one, rules=rules)
    ]:
        found |= {base for _, bases in heirs for base in bases}
        left = [one for one in left if one not in heirs]
    return frozenset(found)


def _is_collected_by_name(name: str, bases: Sequence[str], *, rules: Rules) -> bool:
    return rules.is_class(name) or any(base.endswith('TestCase') for base in bases)


def is_named_fixture(member: Member) -> bool:
    """Whether a function is what a parameter of its name asks for."""
    return member.kind == 'method' and not FIXTURES.isdisjoint(member.annotations)


def _is_autouse(tokens: tuple[str, ...]) -> bool:
    head = tokens[: tokens.index('def')] if 'def' in tokens else tokens
    return any(head[i : i + 3] == ('autouse', '=', 'True') for i in range(len(head)))


class _Finder:
    def __init__(self, file: SourceFile, resolve: Resolve) -> None:
        self._file = file
        self._resolve = resolve
        self._rules, self._collected = DEFAULT, True
        own = [(type_.simple, _bases(type_)) for type_ in file.types]
        self._extended = extended(own, DEFAULT)
        if isinstance(file, PythonFile):
            self._rules, self._collected = file.rules, file.collected
            self._extended = extended(own, file.rules) | file.extended

    def tests(self) -> Iterator[tuple[DeclaredType, Member]]:
        known: dict[str, bool] = {}
        for type_ in self._effective():
            is_case = type_.kind == 'class' and self._is_case(type_, _DEPTH)
            known[type_.name] = self._holds_tests(type_, known, is_case=is_case)
            if not known[type_.name]:
                continue
            for member in type_.members:
                if self._is_test(member, is_case=is_case) and not member.parameters:
                    yield type_, member

    def is_collected(self, type_: DeclaredType) -> bool:
        if type_.kind == 'module':
            return True
        by_name = _is_collected_by_name(type_.simple, _bases(type_), rules=self._rules)
        return by_name or self._is_case(type_, _DEPTH)

    def _effective(self) -> list[DeclaredType]:
        """The types, without those that a later one of the same name hides."""
        last = {type_.name: type_ for type_ in self._file.types}
        return [type_ for type_ in self._file.types if last[type_.name] is type_]

    def _holds_tests(self, type_: DeclaredType, known: dict[str, bool], *, is_case: bool) -> bool:
        if type_.kind == 'module':
            return self._collected
        if self._is_refused(type_, _DEPTH):
            return False
        if type_.simple in self._extended and not type_.around[1:]:
            return True  # its heirs may be collected wherever they stand
        if not self._collected or not known.get(type_.outer, False):
            return False
        if is_case:
            return len(type_.around) == 1
        if len(type_.around) > 1 and self._is_case_by_name(type_.outer):
            return False  # unittest looks at no class in a class
        return self._rules.is_class(type_.simple) and not self._has_constructor(type_, _DEPTH)

    def _is_case_by_name(self, name: str) -> bool:
        return any(t.name == name and self._is_case(t, _DEPTH) for t in self._effective())

    def _is_test(self, member: Member, *, is_case: bool) -> bool:
        if member.kind != 'method' or not _NO_FUNCTION.isdisjoint(member.annotations):
            return False
        if is_case:
            return member.name.startswith('test') or member.name == 'runTest'
        return self._rules.is_function(member.name)

    def _parents(self, type_: DeclaredType) -> Iterator[tuple[str, list[DeclaredType]]]:
        """Each base, with the classes of the test tree that it may be."""
        for name in _bases(type_):
            found = [t for t in self._resolve(name) if t.kind == 'class' and t.name != type_.name]
            yield name, found

    def _is_case(self, type_: DeclaredType, depth: int) -> bool:
        """Whether a class extends TestCase, as the known part of its ancestry tells.

        A base from a library counts by its name: IsolatedAsyncioTestCase, AsyncHTTPTestCase and such.
        """
        if not depth:
            return False
        return any(
            any(self._is_case(parent, depth - 1) for parent in found)
            if found
            else name.endswith('TestCase')
            for name, found in self._parents(type_)
        )

    def _has_constructor(self, type_: DeclaredType, depth: int) -> bool:
        """pytest passes by a class that has one, however it came by it."""
        if any(m.kind == 'constructor' or m.name == '__new__' for m in type_.members):
            return True
        if 'dataclass' in type_.annotations:
            return True
        return depth > 0 and any(
            self._has_constructor(parent, depth - 1)
            for _, found in self._parents(type_)
            for parent in found
        )

    def _is_refused(self, type_: DeclaredType, depth: int) -> bool:
        """Whether `__test__ = False` says that there are no tests in a class."""
        for member in type_.members:
            if member.kind == 'field' and member.name == '__test__':
                return 'False' in member.tokens and type_.simple not in self._extended
        return depth > 0 and any(
            self._is_refused(parent, depth - 1)
            for _, found in self._parents(type_)
            for parent in found
        )


def _bases(type_: DeclaredType) -> tuple[str, ...]:
    first = () if type_.superclass is None or type_.kind == 'module' else (type_.superclass,)
    return (*first, *(type_.interfaces if type_.kind != 'module' else ()))
