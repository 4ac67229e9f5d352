"""Which members of a Java file are test methods: JUnit 3 to 6, TestNG, engines of the JUnit Platform,
and annotations made of theirs."""

from __future__ import annotations

from coevo.languages.declarations import DeclaredType
from coevo.languages.declarations import Member
from coevo.languages.declarations import SourceFile
from coevo.languages.reading import Resolve

TEST_ANNOTATIONS = frozenset(
    {
        'Test',
        'Theory',
        'ParameterizedTest',
        'RepeatedTest',
        'TestFactory',
        'TestTemplate',
        'ArchTest',
        # what libraries have made of ParameterizedTest and TestTemplate
        'CartesianTest',
        'FuzzTest',
        'RepeatedIfExceptionsTest',
        'RetryingTest',
    }
)
# Test annotations with names that other libraries use otherwise, by the package that has them.
_AMBIGUOUS = {'net.jqwik.api': frozenset({'Example', 'Property'})}
# Engines that run static methods.
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
# Enough for any real chain of classes or annotations, and an end for one that runs in a circle.
_DEPTH = 20


def find_tests(file: SourceFile, resolve: Resolve) -> tuple[tuple[DeclaredType, Member], ...]:
    """The test methods that a file declares, ignored and disabled ones too, in its order."""
    here = TEST_ANNOTATIONS | _imported(file)
    found = []
    for type_ in file.types:
        junit3 = _is_test_case(type_, resolve, _DEPTH)
        whole = _is_test_class(type_, resolve, _DEPTH)
        for member in type_.members:
            if member.kind == 'method' and _has_body(member):
                annotated = _is_annotated(member, here, resolve)
                if annotated or (junit3 and _is_junit3(member)) or (whole and _is_testng(member)):
                    found.append((type_, member))
    return tuple(found)


def is_fixture(member: Member) -> bool:
    """Whether the framework runs or injects a member of a test class by itself."""
    if member.kind in ('constructor', 'initializer'):
        return True
    if not FIXTURE_ANNOTATIONS.isdisjoint(member.annotations):
        return True
    return member.kind == 'method' and member.name in _FIXTURE_NAMES and not member.parameters


def _imported(file: SourceFile) -> frozenset[str]:
    """What only an import makes a test annotation."""
    return frozenset(
        name
        for package, names in _AMBIGUOUS.items()
        for item in file.imports
        if item.text.startswith(package)
        for name in names
    )


def _is_annotated(member: Member, known: frozenset[str], resolve: Resolve) -> bool:
    chosen = member.annotations
    if 'static' in member.modifiers:
        return not _STATIC.isdisjoint(chosen)
    return any(_means_test(name, known, resolve, _DEPTH) for name in chosen)


def _means_test(annotation: str, known: frozenset[str], resolve: Resolve, depth: int) -> bool:
    if annotation in known:
        return True
    return depth > 0 and any(
        _means_test(name, TEST_ANNOTATIONS, resolve, depth - 1)
        for type_ in resolve(annotation)
        if type_.kind == 'annotation'
        for name in type_.annotations
    )


def _is_test_class(type_: DeclaredType, resolve: Resolve, depth: int) -> bool:
    """Whether TestNG takes every public method of a class for a test; subclasses inherit that."""
    if 'Test' in type_.annotations:
        return type_.kind == 'class'
    if type_.superclass is None or depth == 0:
        return False
    supers = (t for t in resolve(type_.superclass) if t.name != type_.name)
    return any(_is_test_class(parent, resolve, depth - 1) for parent in supers)


def _is_test_case(type_: DeclaredType, resolve: Resolve, depth: int) -> bool:
    """Whether a class extends TestCase, as the known part of its ancestry tells.

    A superclass from a library counts by its name: PlexusTestCase, XMLTestCase and such.
    """
    if type_.superclass is None or depth == 0:
        return False
    supers = [t for t in resolve(type_.superclass) if t.name != type_.name]
    if not supers:
        return type_.superclass.endswith('TestCase')
    return any(_is_test_case(parent, resolve, depth - 1) for parent in supers)


def _is_junit3(member: Member) -> bool:
    named = member.name.startswith('test') and not member.parameters
    return named and _is_public_void(member)


def _is_testng(member: Member) -> bool:
    return FIXTURE_ANNOTATIONS.isdisjoint(member.annotations) and _is_public_void(member)


def _is_public_void(member: Member) -> bool:
    return (
        'public' in member.modifiers
        and 'static' not in member.modifiers
        and f' void {member.name}(' in member.declaration
    )


def _has_body(member: Member) -> bool:
    return member.tokens[-1:] == ('}',)
