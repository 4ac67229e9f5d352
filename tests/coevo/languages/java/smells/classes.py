"""Test classes of JUnit 3 to 5 and TestNG around the members that a test is about."""

from __future__ import annotations

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.syntax import parse
from coevo.languages.java.smells import JavaSmell, find_smells
from coevo.model.records import TestMethod

JUNIT3 = 'import junit.framework.TestCase;\nimport java.io.*;\n{0}class CartTest extends TestCase {{ {1} }}'
JUNIT4 = (
    'import org.junit.*;\nimport static org.junit.Assert.*;\n'
    'import java.io.File;\n{0}public class CartTest {{ {1} }}'
)
JUNIT5 = (
    'import org.junit.jupiter.api.*;\nimport static org.junit.jupiter.api.Assertions.*;\n'
    'import java.io.File;\nimport java.util.List;\n{0}class CartTest {{ {1} }}'
)
TESTNG = (
    'import org.testng.annotations.*;\nimport static org.testng.Assert.*;\n'
    'import java.io.File;\n{0}public class CartTest {{ {1} }}'
)
FLUENT = (
    'import org.junit.jupiter.api.*;\nimport static org.assertj.core.api.Assertions.*;\n'
    'import static com.google.common.truth.Truth.*;\n'
    'import java.io.File;\n{0}class CartTest {{ {1} }}'
)
CART = """package shop;
public class Cart {
  public int total() { return 0; }
  public void add(String name) {}
  public void add(String name, int count) {}
  void hidden() {}
}"""


def production() -> DeclaredType:
    return parse(CART.encode()).types[0]


def smells_in(
    frame: str, members: str, *, name: str = 'testIt', before: str = ''
) -> set[JavaSmell]:
    """The smells of one of the test methods of a class."""
    source = frame.format(before, members)
    type_ = next(t for t in parse(source.encode()).types if any(m.name == name for m in t.members))
    member = next(m for m in type_.members if m.name == name)
    method = TestMethod(
        module='.',
        test_file='CartTest.java',
        test_class=type_.name,
        test_method=name,
        parameters=member.parameters,
    )
    return set(find_smells(source.encode(), method, production()))


def of_body(frame: str, body: str) -> set[JavaSmell]:
    """The smells of a test with this body."""
    head = 'public void testIt()' if frame == JUNIT3 else '@Test public void testIt()'
    return smells_in(frame, f'{head} {{ {body} }}')
