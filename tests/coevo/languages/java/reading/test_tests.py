from __future__ import annotations

import pytest

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.reading.tests import find_tests, is_run_by_framework


def found_in(source: str, *others: str) -> list[str]:
    """Class#method of the tests in a file, the other files being all that it can see."""
    files = [parse(text.encode()) for text in (source, *others)]
    types = [type_ for file in files for type_ in file.types]

    def resolve(simple: str) -> list[DeclaredType]:
        return [type_ for type_ in types if type_.simple == simple]

    return [f'{type_.name}#{member.name}' for type_, member in find_tests(files[0], resolve)]


@pytest.mark.parametrize(
    'annotation',
    [
        'Test',
        'org.junit.Test',
        'Test(expected = X.class)',
        'Theory',
        'ParameterizedTest',
        'RepeatedTest(3)',
        'TestFactory',
        'TestTemplate',
        'CartesianTest',
        'Disabled @Test',
        'Test @Ignore("x")',
    ],
)
def test_annotated_methods_are_tests(annotation: str) -> None:
    assert found_in(f'class A {{ @{annotation} void m() {{}} void helper() {{}} }}') == ['A#m']


def test_methods_of_nested_classes_are_tests() -> None:
    assert found_in('class A { @Nested class B { @Test void m() {} } }') == ['A$B#m']


def test_junit3_tests_are_public_void_methods_named_test() -> None:
    source = """public class A extends TestCase {
      public void testOne() {}
      public void test() {}
      void testHidden() {}
      public void testWith(int x) {}
      public int testValue() { return 1; }
      public static void testStatic() {}
      public void helper() {}
    }"""
    assert found_in(source) == ['A#testOne', 'A#test']


def test_junit3_superclasses_are_followed_through_the_test_tree() -> None:
    source = 'class A extends Base { public void testIt() {} }'
    assert found_in(source, 'class Base extends More {}', 'class More extends TestCase {}')
    assert not found_in(source, 'class Base extends More {}', 'class More {}')
    assert not found_in(source)


def test_junit3_base_class_of_a_library_is_recognised_by_name() -> None:
    assert found_in('class A extends PlexusTestCase { public void testIt() {} }') == ['A#testIt']


def test_circular_superclasses_have_no_tests() -> None:
    source = 'class A extends B { public void testIt() {} } class B extends A {}'
    assert found_in(source) == []


def test_annotation_with_a_test_annotation_marks_a_test() -> None:
    source = 'class A { @Fast void m() {} @Slow void n() {} }'
    fast, quick = '@Quick @interface Fast {}', '@Test @interface Quick {}'
    assert found_in(source, fast, quick, '@interface Slow {}') == ['A#m']


def test_abstract_and_static_methods_are_not_tests() -> None:
    assert found_in('abstract class A { @Test abstract void m(); @Test static void n() {} }') == []


def test_inherited_test_belongs_only_to_its_declaring_class() -> None:
    base = 'abstract class Base { @Test void m() {} }'
    assert found_in('class A extends Base {}', base) == []
    assert found_in(base) == ['Base#m']


def test_annotated_default_methods_of_interfaces_are_tests() -> None:
    assert found_in('interface A { @Test default void m() {} }') == ['A#m']


def test_fixtures_are_rules_constructors_initialisers_and_setup_methods() -> None:
    source = """class A {
      @Rule public Temp rule = new Temp();
      int plain;
      A() {}
      { run(); }
      @BeforeEach void start() {}
      protected void setUp() {}
      @BeforeSuite public void once() {}
      void helper() {}
    }"""
    found = parse(source.encode()).types[0].members
    assert [m.name for m in found if is_run_by_framework(m)] == [
        'rule',
        'A',
        '<init>',
        'start',
        'setUp',
        'once',
    ]


def test_jqwik_properties_are_tests_only_if_imported() -> None:
    source = 'class A { @Property boolean m(@ForAll int i) { return true; } @Example void n() {} }'
    assert found_in(source) == []
    assert found_in(f'import net.jqwik.api.*; {source}') == ['A#m', 'A#n']
    assert found_in(f'import net.jqwik.api.Property; {source}') == ['A#m', 'A#n']


def test_properties_of_junit_quickcheck_are_tests_only_if_imported() -> None:
    source = 'class A { @Property public void m(int i) {} }'
    assert found_in(f'import com.pholser.junit.quickcheck.Property; {source}') == ['A#m']
    assert found_in(f'import org.example.Property; {source}') == []


def test_testng_annotation_on_a_class_makes_its_public_methods_tests() -> None:
    source = """import org.testng.annotations.*;
    @Test(groups = "fast") public class A extends Base {
      public void one() {}
      public int two() { return 2; }
      void hidden() {}
      public static void helper() {}
      @BeforeMethod public void start() {}
      @DataProvider public Object[][] rows() { return null; }
      @Test void annotated() {}
    }"""
    assert found_in(source) == ['A#one', 'A#annotated']
    heir = 'class B extends A { public void more() {} public void test(int i) {} }'
    assert found_in(heir, source) == ['B#more', 'B#test']


def test_static_methods_are_tests_only_for_archunit() -> None:
    assert found_in('class A { @ArchTest static void m(JavaClasses c) {} }') == ['A#m']
