"""Find the test methods of a Java file.

Supports JUnit 3 to 6, TestNG, engines of the JUnit Platform and composed annotations.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from coevo.languages.declarations import DeclaredType, Member, SourceFile
from coevo.languages.located_types import AncestryQuery
from coevo.languages.reading import Resolve
from coevo.model.records import TestMethod

TEST_ANNOTATIONS = frozenset(
    {
        'Test',
        'Theory',
        'ParameterizedTest',
        'RepeatedTest',
        'TestFactory',
        'TestTemplate',
        'ArchTest',
        # annotations that libraries built on ParameterizedTest and TestTemplate
        'CartesianTest',
        'FuzzTest',
        'RepeatedIfExceptionsTest',
        'RetryingTest',
    }
)
# Test annotations whose names other libraries use for something else, by their package.
_AMBIGUOUS = {
    'net.jqwik.api': frozenset({'Example', 'Property'}),
    'com.pholser.junit.quickcheck': frozenset({'Property'}),
}
# Annotations whose engines run static methods.
_STATIC = frozenset({'ArchTest'})
FIXTURE_ANNOTATIONS = frozenset(
    {
        'Before',
        'BeforeClass',
        'BeforeAll',
        'BeforeEach',
        'BeforeMethod',
        'BeforeSuite',
        'BeforeTest',
        'BeforeGroups',
        'BeforeContainer',
        'BeforeProperty',
        'BeforeTry',
        'After',
        'AfterClass',
        'AfterAll',
        'AfterEach',
        'AfterMethod',
        'AfterSuite',
        'AfterTest',
        'AfterGroups',
        'AfterContainer',
        'AfterProperty',
        'AfterTry',
        'DataProvider',
        'Factory',
        'Provide',
        'Rule',
        'ClassRule',
        'RegisterExtension',
        'Parameters',
        'Parameter',
        'DataPoint',
        'DataPoints',
        'TempDir',
        'Mock',
        'Spy',
        'Captor',
        'InjectMocks',
    }
)
_FIXTURE_NAMES = frozenset({'setUp', 'tearDown'})


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """Return the test methods that a file declares, each with its type, in order.

    Ignored and disabled ones are included, abstract ones are not. `resolve` returns the known types
    with a simple name, by which superclasses and composed annotations are found.
    """
    here = TEST_ANNOTATIONS | _list_imported_test_annotations(file)
    above = _TestAncestry(resolve)
    tests = []
    for type_ in file.types:
        junit3 = above.extends_junit3_test_case(type_)
        whole = above.has_class_level_test_annotation(type_)
        for member in type_.members:
            if member.kind == 'method' and _has_body(member):
                annotated = _has_test_annotation(member, here, above)
                if (
                    annotated
                    or (junit3 and _is_junit3_test(member))
                    or (whole and _is_test_by_class_annotation(member))
                ):
                    tests.append((type_, member))
    return tuple(tests)


def is_run_by_framework(member: Member) -> bool:
    """Return whether the test framework itself runs or injects a member of a test class.

    This holds for constructors, initializers, `setUp`, `tearDown` and members with an annotation of
    FIXTURE_ANNOTATIONS.
    """
    if member.kind in ('constructor', 'initializer'):
        return True
    if not FIXTURE_ANNOTATIONS.isdisjoint(member.annotations):
        return True
    return member.kind == 'method' and member.name in _FIXTURE_NAMES and not member.parameters


def _list_imported_test_annotations(file: SourceFile) -> frozenset[str]:
    """Return the names of annotations, such as jqwik's `Property`, that mean tests in this file.

    Other libraries use the same names for something else, so the file's imports decide.
    """
    return frozenset(
        name
        for package, names in _AMBIGUOUS.items()
        for item in file.imports
        if item.text.startswith(package)
        for name in names
    )


def _has_test_annotation(member: Member, known: frozenset[str], above: _TestAncestry) -> bool:
    chosen = member.annotations
    if 'static' in member.modifiers:
        return not _STATIC.isdisjoint(chosen)
    return any(name in known or above.is_test_annotation(name) for name in chosen)


class _TestAncestry:
    """Queries on what annotations and classes inherit, over the types that `resolve` knows."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._marks = AncestryQuery(self._look_up_test_annotation)
        self._test_classes = AncestryQuery(self._look_up_class_level_annotation)
        self._test_cases = AncestryQuery(self._look_up_junit3_test_case)

    def is_test_annotation(self, annotation: str) -> bool:
        """Return whether an annotation is a test annotation or is annotated with one."""
        return self._marks.holds_for_any_ancestor(annotation)

    def has_class_level_test_annotation(self, type_: DeclaredType) -> bool:
        """Return whether a class has `@Test` on itself or on a superclass.

        TestNG then treats every public method of the class as a test.
        """
        if 'Test' in type_.annotations:
            return type_.kind == 'class'
        return type_.superclass is not None and self._test_classes.holds_for_any_ancestor(
            type_.superclass
        )

    def extends_junit3_test_case(self, type_: DeclaredType) -> bool:
        """Return whether a class extends JUnit 3's TestCase, as far as its ancestors are known.

        A superclass that is not known is judged by its name, such as PlexusTestCase or XMLTestCase.
        """
        if type_.superclass is None:
            return False
        if self._has_unknown_superclass(type_):
            return type_.superclass.endswith('TestCase')
        return self._test_cases.holds_for_any_ancestor(type_.superclass)

    def _has_unknown_superclass(self, type_: DeclaredType) -> bool:
        """Return whether no known type has the superclass's name, apart from the class itself.

        No class is its own superclass.
        """
        return all(other.name == type_.name for other in self._resolve(type_.superclass or ''))

    def _look_up_test_annotation(self, name: str) -> tuple[bool, set[str]]:
        types = [type_ for type_ in self._resolve(name) if type_.kind == 'annotation']
        return name in TEST_ANNOTATIONS, {each for type_ in types for each in type_.annotations}

    def _look_up_class_level_annotation(self, name: str) -> tuple[bool, set[str]]:
        types = list(self._resolve(name))
        marked = [type_ for type_ in types if 'Test' in type_.annotations]
        plain = [type_ for type_ in types if 'Test' not in type_.annotations]
        above = {type_.superclass for type_ in plain if type_.superclass is not None}
        return any(type_.kind == 'class' for type_ in marked), above

    def _look_up_junit3_test_case(self, name: str) -> tuple[bool, set[str]]:
        types = list(self._resolve(name))
        if not types:
            return name.endswith('TestCase'), set()
        holds = len(types) == 1 and types[0].superclass == name and name.endswith('TestCase')
        return holds, {type_.superclass for type_ in types if type_.superclass is not None}


def _is_junit3_test(member: Member) -> bool:
    named = member.name.startswith('test') and not member.parameters
    return named and _is_public_void(member)


def _is_test_by_class_annotation(member: Member) -> bool:
    return FIXTURE_ANNOTATIONS.isdisjoint(member.annotations) and _is_public_void(member)


def _is_public_void(member: Member) -> bool:
    return (
        'public' in member.modifiers
        and 'static' not in member.modifiers
        and f' void {member.name}(' in member.declaration
    )


def _has_body(member: Member) -> bool:
    return member.tokens[-1:] == ('}',)


_HEAD = re.compile(r'\$*[^$]*')
_AFFIX = re.compile(r'^Tests?(?=[A-Z])|(?:Tests?|TestCases?|IT|ITCase|Spec)$')


def guess_class_under_test(test: TestMethod) -> str:
    """Return the simple name of the class that a test class is named after; it need not exist.

    It is `Foo` for FooTest, TestFoo or FooIT. For nested test classes, the outermost class counts.
    """
    simple, stem = test.test_class.rpartition('.')[2], PurePosixPath(test.test_file).stem
    outermost = stem if f'{simple}$'.startswith(f'{stem}$') else _HEAD.findall(simple)[0]
    return _AFFIX.sub('', outermost)


_EXPECTED = re.compile(rb'\bexpected(?:Exceptions)?\s*=\s*\{?([^)}]*)')
# Match from the beginning of a name only; otherwise a long name is scanned again from each letter.
_CLASS = re.compile(rb'(?<![\w$.])([A-Za-z_$][\w$.]*)\s*\.\s*class\b')


def list_expected_throws(source: bytes) -> tuple[str, ...]:
    """Return the class names, as written, of throwables that a file's tests expect, sorted.

    They are those in `expected = …` of JUnit 4 and `expectedExceptions = …` of TestNG. A file that
    uses JUnit 4's `ExpectedException` rule gives only `Throwable`, since the rule can be given any
    throwable in many ways. A test gains nothing by naming one: being left by an expected exception
    counts no more than doing nothing.
    """
    if b'ExpectedException' in source and re.search(rb'\.expect\w*\s*\(', source):
        return ('Throwable',)
    names = {name for text in _EXPECTED.findall(source) for name in _CLASS.findall(text)}
    return tuple(sorted(name.decode('utf-8', 'replace') for name in names))
