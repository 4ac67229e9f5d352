"""The members of a Python file that are tests, by the rules of pytest and unittest.

https://docs.pytest.org/en/stable/explanation/goodpractices.html#conventions-for-python-test-discovery,
https://docs.python.org/3/library/unittest.html#organizing-test-code. A test without a `def`, such
as a variable that holds the result of a call, is not supported: it has no text to compare.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.located_types import AncestryQuery
from coevo.languages.python.collection import DEFAULT, CollectionRules, PythonFile
from coevo.languages.reading import Resolve
from coevo.model.records import TestMethod

FIXTURES = frozenset({'fixture', 'yield_fixture', 'async_fixture'})
# A function with one of these decorators is no longer a plain function.
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
_REQUESTS = frozenset({'getfixturevalue', 'getfuncargvalue'})
_MAIN = ('if', '__name__', '==')


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """Return the test methods that a file declares, each with its class or module, in their order.

    Skipped ones are included, and so are those of base classes whose subclasses may run them. For a
    file outside of a source tree, pytest's default naming rules apply.

    resolve  returns the classes of the test tree that a name in the file may mean
    """
    return tuple(_TestFinder(file, resolve).list_tests())


def is_collected(file: SourceFile, type_: DeclaredType, resolve: Resolve) -> bool:
    """Return whether pytest runs tests of a class or module under its own name.

    A base class may run in its subclasses only.
    """
    return _TestFinder(file, resolve).is_collected(type_)


def is_run_by_framework(member: Member) -> bool:
    """Return whether the framework runs a member by itself: module code, set-up, hooks, `autouse`.

    False for a fixture that a test requests by name, which is a helper, and for a test.
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


def find_collected_base_names(
    classes: Iterable[tuple[str, Sequence[str]]], rules: CollectionRules
) -> frozenset[str]:
    """Return the simple names of the base classes, direct or indirect, of the collected classes.

    classes  pairs of a class and its bases, all by simple names
    rules    the names that pytest collects; a class with a base `…TestCase` is collected, too
    """
    bases: dict[str, set[str]] = {}
    todo: list[str] = []
    for name, above in classes:
        bases.setdefault(name, set()).update(above)
        if _is_collected_by_name(name, above, rules=rules):
            todo += above
    extended_names = set(todo)
    while todo:
        new = bases.get(todo.pop(), set()) - extended_names
        extended_names |= new
        todo += new
    return frozenset(extended_names)


def _is_collected_by_name(name: str, bases: Sequence[str], *, rules: CollectionRules) -> bool:
    return rules.collects_class(name) or any(base.endswith('TestCase') for base in bases)


def has_fixture_decorator(member: Member) -> bool:
    """Return whether a function has the decorator of a fixture, which tests request by name."""
    return member.kind == 'method' and not FIXTURES.isdisjoint(member.annotations)


def list_provided_fixture_names(member: Member) -> tuple[str, ...]:
    """Return the one name by which tests request a fixture: its own, or the one of `name=`.

    () if the member is no fixture.
    """
    if not has_fixture_decorator(member):
        return ()
    head = member.tokens[: member.tokens.index('def')] if 'def' in member.tokens else ()
    for at in range(len(head) - 2):
        if head[at : at + 2] == ('name', '=') and head[at + 2][:1] in ("'", '"'):
            return (head[at + 2].strip('\'"'),)
    return (member.name,)


def may_request_any_fixture(member: Member) -> bool:
    """Return whether a function requests a fixture by a computed name: `getfixturevalue(x)`.

    Such a request may mean any fixture.
    """
    tokens = member.tokens
    return any(
        token in _REQUESTS and not _is_literal_argument(tokens[at + 1 : at + 4])
        for at, token in enumerate(tokens)
    )


def _is_literal_argument(tokens: Sequence[str]) -> bool:
    return len(tokens) == 3 and tokens[1][:1] in ('"', "'") and tokens[2] in (')', ',')


def _is_autouse(tokens: tuple[str, ...]) -> bool:
    head = tokens[: tokens.index('def')] if 'def' in tokens else tokens
    return any(head[i : i + 3] == ('autouse', '=', 'True') for i in range(len(head)))


class _TestFinder:
    def __init__(self, file: SourceFile, resolve: Resolve) -> None:
        self._file = file
        self._resolve = resolve
        self._cases = AncestryQuery(self._look_up_test_case_and_bases)
        self._constructed = AncestryQuery(self._look_up_constructor_and_bases)
        self._refused = AncestryQuery(self._look_up_refusal_and_bases)
        self._rules, self._collected = DEFAULT, True
        own = [(type_.simple, _list_bases(type_)) for type_ in file.types]
        self._extended = find_collected_base_names(own, DEFAULT)
        if isinstance(file, PythonFile):
            self._rules, self._collected = file.rules, file.collected
            self._extended = find_collected_base_names(own, file.rules) | file.extended

    def list_tests(self) -> Iterator[tuple[DeclaredType, Member]]:
        """Yield each test with its class or module, in the order of the file."""
        known: dict[str, bool] = {}
        for type_ in self._effective_types.values():
            is_case = type_.kind == 'class' and self._is_test_case(type_)
            known[type_.name] = self._holds_tests(type_, known, is_case=is_case)
            if not known[type_.name]:
                continue
            for member in type_.members:
                if self._is_test(member, is_case=is_case) and not member.parameters:
                    yield type_, member

    def is_collected(self, type_: DeclaredType) -> bool:
        """Return whether tests of the type run under its own name."""
        if type_.kind == 'module':
            return True
        by_name = _is_collected_by_name(type_.simple, _list_bases(type_), rules=self._rules)
        return by_name or self._is_test_case(type_)

    @cached_property
    def _effective_types(self) -> dict[str, DeclaredType]:
        """The types by name, in order, without those replaced by a later type of the same name."""
        last = {type_.name: type_ for type_ in self._file.types}
        return {t.name: t for t in self._file.types if last[t.name] is t}

    def _holds_tests(self, type_: DeclaredType, known: dict[str, bool], *, is_case: bool) -> bool:
        if type_.kind == 'module':
            return self._collected
        if self._has_collection_disabled(type_):
            return False
        if type_.simple in self._extended and not type_.around[1:]:
            return True  # its subclasses may be collected, wherever they are
        if not self._collected or not known.get(type_.enclosing_name, False):
            return False
        if is_case:
            return len(type_.around) == 1
        if len(type_.around) > 1 and self._is_test_case_by_name(type_.enclosing_name):
            return False  # unittest does not look into nested classes
        return self._rules.collects_class(type_.simple) and not self._has_constructor(type_)

    def _is_test_case_by_name(self, name: str) -> bool:
        type_ = self._effective_types.get(name)
        return type_ is not None and self._is_test_case(type_)

    def _is_test(self, member: Member, *, is_case: bool) -> bool:
        if member.kind != 'method' or not _NO_FUNCTION.isdisjoint(member.annotations):
            return False
        if is_case:
            return member.name.startswith('test') or member.name == 'runTest'
        return self._rules.collects_function(member.name)

    def _resolve_classes(self, name: str) -> list[DeclaredType]:
        """Return the classes of the test tree that a base name may refer to."""
        return [type_ for type_ in self._resolve(name) if type_.kind == 'class']

    def _is_test_case(self, type_: DeclaredType) -> bool:
        """Return whether a class extends TestCase, as far as its ancestry is known.

        A library base counts by its name: IsolatedAsyncioTestCase, AsyncHTTPTestCase and the like.
        """
        return any(
            name.endswith('TestCase')
            if self._is_library_base(name, type_)
            else self._cases.holds_for_any_ancestor(name)
            for name in _list_bases(type_)
        )

    def _is_library_base(self, name: str, heir: DeclaredType) -> bool:
        """Return whether no known class can be this base of `heir`: it is then a library's.

        A class is not its own base.
        """
        candidates = (type_ for type_ in self._resolve(name) if type_.kind == 'class')
        return all(type_.name == heir.name for type_ in candidates)

    def _look_up_test_case_and_bases(self, name: str) -> tuple[bool, set[str]]:
        types = self._resolve_classes(name)
        if not types:
            return name.endswith('TestCase'), set()
        above = _collect_bases(types)
        alone = len(types) == 1 and name in above
        return alone and name.endswith('TestCase'), above

    def _has_constructor(self, type_: DeclaredType) -> bool:
        """Return whether a class has a constructor, own or inherited: pytest skips such classes."""
        return _has_own_constructor(type_) or any(
            map(self._constructed.holds_for_any_ancestor, _list_bases(type_))
        )

    def _look_up_constructor_and_bases(self, name: str) -> tuple[bool, set[str]]:
        types = self._resolve_classes(name)
        return any(map(_has_own_constructor, types)), _collect_bases(types)

    def _has_collection_disabled(self, type_: DeclaredType) -> bool:
        """Return whether `__test__ = False`, own or inherited, marks a class as having no tests."""
        own = self._refuses_tests(type_)
        return (
            any(map(self._refused.holds_for_any_ancestor, _list_bases(type_)))
            if own is None
            else own
        )

    def _look_up_refusal_and_bases(self, name: str) -> tuple[bool, set[str]]:
        types = self._resolve_classes(name)
        own = [self._refuses_tests(type_) for type_ in types]
        silent = [type_ for type_, says in zip(types, own, strict=True) if says is None]
        return any(own), _collect_bases(silent)

    def _refuses_tests(self, type_: DeclaredType) -> bool | None:
        """Return whether the class itself sets `__test__` to False; None if it does not set it."""
        for member in type_.members:
            if member.kind == 'field' and member.name == '__test__':
                return 'False' in member.tokens and type_.simple not in self._extended
        return None


def _has_own_constructor(type_: DeclaredType) -> bool:
    own = any(m.kind == 'constructor' or m.name == '__new__' for m in type_.members)
    return own or 'dataclass' in type_.annotations


def _collect_bases(types: Iterable[DeclaredType]) -> set[str]:
    return {name for type_ in types for name in _list_bases(type_)}


def _list_bases(type_: DeclaredType) -> tuple[str, ...]:
    first = () if type_.superclass is None or type_.kind == 'module' else (type_.superclass,)
    return (*first, *(type_.interfaces if type_.kind != 'module' else ()))


_AFFIX = re.compile(r'^Tests?(?=[A-Z_])_?|(?:Tests?|TestCases?)$')
_FILE_AFFIX = re.compile(r'^tests?_|_tests?$')


def guess_class_under_test(test: TestMethod) -> str:
    """Return the name of the class or module that a test is named after.

    It is `Foo` for TestFoo, FooTest and TestFoo$TestBar, and `foo` for a function of test_foo.py.
    """
    _, *classes = test.test_class.split('$')
    named = _AFFIX.sub('', classes[0]) if classes else ''
    return named or _FILE_AFFIX.sub('', PurePosixPath(test.test_file).stem)
