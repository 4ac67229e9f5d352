"""Which members of a Java file are test methods: JUnit 3, 4 and 5, and annotations made of them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterable

from coevo.syntax import JavaFile
from coevo.syntax import JavaType
from coevo.syntax import Member

TEST_ANNOTATIONS = frozenset(
    {
        'Test',
        'Theory',
        'ParameterizedTest',
        'RepeatedTest',
        'TestFactory',
        'TestTemplate',
    }
)
FIXTURE_ANNOTATIONS = frozenset(
    {
        'Before',
        'BeforeClass',
        'BeforeAll',
        'BeforeEach',
        'BeforeMethod',
        'After',
        'AfterClass',
        'AfterAll',
        'AfterEach',
        'AfterMethod',
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

Resolve = Callable[[str], Iterable[JavaType]]
"""The types of the test tree that a simple name may mean, seen from one file."""


def find_tests(file: JavaFile, resolve: Resolve) -> tuple[tuple[JavaType, Member], ...]:
    """The test methods that a file declares, ignored and disabled ones too, in its order."""
    found = []
    for type_ in file.types:
        junit3 = _is_test_case(type_, resolve, _DEPTH)
        for member in type_.members:
            if member.kind == 'method' and 'static' not in member.modifiers and _has_body(member):
                annotated = any(_means_test(name, resolve, _DEPTH) for name in member.annotations)
                if annotated or (junit3 and _is_junit3(member)):
                    found.append((type_, member))
    return tuple(found)


def is_fixture(member: Member) -> bool:
    """Whether the framework runs or injects a member of a test class by itself."""
    if member.kind in ('constructor', 'initializer'):
        return True
    if not FIXTURE_ANNOTATIONS.isdisjoint(member.annotations):
        return True
    return member.kind == 'method' and member.name in _FIXTURE_NAMES and not member.parameters


def _means_test(annotation: str, resolve: Resolve, depth: int) -> bool:
    if annotation in TEST_ANNOTATIONS:
        return True
    return depth > 0 and any(
        _means_test(name, resolve, depth - 1)
        for type_ in resolve(annotation)
        if type_.kind == 'annotation'
        for name in type_.annotations
    )


def _is_test_case(type_: JavaType, resolve: Resolve, depth: int) -> bool:
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
    return (
        member.name.startswith('test')
        and 'public' in member.modifiers
        and not member.parameters
        and f' void {member.name}(' in member.declaration
    )


def _has_body(member: Member) -> bool:
    return member.tokens[-1:] == ('}',)
