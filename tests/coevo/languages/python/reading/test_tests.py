from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.declarations import DeclaredType
from coevo.languages.python.reading.syntax import parse
from coevo.languages.python.reading.tests import find_tests, is_run_by_framework


def found_in(source: str, *others: str) -> list[str]:
    """class#method of the tests in a file, the other files being all that it can see."""
    files = [parse(text.encode()) for text in (source, *others)]
    types = [type_ for file in files for type_ in file.types]

    def resolve(simple: str) -> Iterator[DeclaredType]:
        return (type_ for type_ in types if type_.simple == simple)

    return [f'{type_.name}#{member.name}' for type_, member in find_tests(files[0], resolve)]


def test_module_functions_named_test_are_tests() -> None:
    source = 'def test_a(): pass\nasync def test_b(): pass\ndef helper(): pass\ntest_c = 1\n'
    assert found_in(source) == ['#test_a', '#test_b']


def test_functions_nested_in_functions_are_not_tests() -> None:
    assert found_in('def f():\n    def test_a(): pass\n') == []


def test_fixture_named_like_a_test_is_not_a_test() -> None:
    assert found_in('@pytest.fixture()\ndef test_client(): pass\n') == []


def test_methods_are_tests_only_in_classes_named_test() -> None:
    source = """class TestA:
  def test_a(self): pass
  def check(self): pass
  class TestB:
    def test_b(self): pass
class Other:
  def test_c(self): pass
"""
    assert found_in(source) == ['$TestA#test_a', '$TestA$TestB#test_b']


@pytest.mark.parametrize(
    'member', ['def __init__(self): pass', '__test__ = False', 'def __new__(cls): pass']
)
def test_class_that_pytest_does_not_collect_has_no_tests(member: str) -> None:
    assert found_in(f'class TestA:\n  {member}\n  def test_a(self): pass\n') == []


def test_class_that_inherits_a_constructor_has_no_tests() -> None:
    source = 'class TestA(Base):\n  def test_a(self): pass\n'
    assert found_in(source, 'class Base:\n  def __init__(self): pass\n') == []
    assert found_in(source, 'class Base: pass\n') == ['$TestA#test_a']


def test_unittest_case_may_have_any_class_name() -> None:
    source = """class A(unittest.TestCase):
  def testOne(self): pass
  def runTest(self): pass
  def other(self): pass
  class TestInner:
    def test_no(self): pass
class B(LibraryTestCase):
  def test(self): pass
class C(Known):
  def test_c(self): pass
class D(Unknown):
  def test_d(self): pass
"""
    found = found_in(source, 'class Known(TestCase): pass\n', 'class Unknown(object): pass\n')
    assert found == ['$A#testOne', '$A#runTest', '$B#test', '$C#test_c']


def test_mixin_has_tests_if_a_collected_class_derives_from_it() -> None:
    source = """class Common(object):
  def test_a(self): pass
class Between(Common): pass
class Idle(object):
  def test_b(self): pass
class Heir(Idle): pass
class TestHere(Between): pass
"""
    assert found_in(source) == ['$Common#test_a']


def test_a_later_definition_hides_an_earlier_one() -> None:
    source = 'def test_a(): x\ndef test_a(): y\nclass TestB:\n  def test_b(self): x\n'
    found = found_in(source + 'class TestB:\n  def test_c(self): y\n')
    assert found == ['#test_a', '$TestB#test_c']


def test_cyclic_base_classes_have_no_tests() -> None:
    assert found_in('class A(B):\n  def test_a(self): pass\nclass B(A): pass\n') == []


@pytest.mark.parametrize(
    ('source', 'expected'),
    [
        ('def setup_module(m): pass', True),
        ('def setUp(self): pass', True),
        ('@pytest.fixture(autouse=True)\ndef f(): pass', True),
        ('@pytest.fixture(autouse=False)\ndef f(): pass', False),
        ('@pytest.fixture\ndef f(g): autouse = True', False),
        ('def pytest_configure(config): pass', True),
        ('pytestmark = pytest.mark.slow', True),
        ('LIMIT = 3', False),
        ('pytest.importorskip("numpy")', True),
        ('if __name__ == "__main__":\n    unittest.main()', False),
        ('def helper(): pass', False),
    ],
)
def test_declaration_that_the_framework_runs_is_a_fixture(source: str, expected: bool) -> None:
    (member,) = parse(source.encode()).types[0].members
    assert is_run_by_framework(member) is expected
