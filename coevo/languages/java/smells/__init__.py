"""The 19 test smells that AgoneTest (III-E) reports, as tsDetect (testsmells.org) defines them.

Implements `coevo.languages.measures.SmellDetector`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.reading.source import JavaTest, parse_java_source
from coevo.languages.java.smells import assertions, calls, tests
from coevo.model.records import TestMethod

# The 19 test smells that AgoneTest (III-E) reports, as tsDetect (testsmells.org) defines them.
#
# They are detected in the syntax tree. Smells of a class are attributed to its methods: Constructor
# Initialization, Default Test and an ignored class to all of its test methods, General Fixture to
# those that leave a field unused, Lazy Test to each of those that call the same production method.
# Eager and Lazy Test need the class under test.


class JavaSmell(StrEnum):
    """The names of the test smells in the data."""

    ASSERTION_ROULETTE = 'assertion_roulette'
    CONDITIONAL_TEST_LOGIC = 'conditional_test_logic'
    CONSTRUCTOR_INITIALIZATION = 'constructor_initialization'
    DEFAULT_TEST = 'default_test'
    DUPLICATE_ASSERT = 'duplicate_assert'
    EAGER_TEST = 'eager_test'
    EMPTY_TEST = 'empty_test'
    EXCEPTION_HANDLING = 'exception_handling'
    GENERAL_FIXTURE = 'general_fixture'
    IGNORED_TEST = 'ignored_test'
    LAZY_TEST = 'lazy_test'
    MAGIC_NUMBER_TEST = 'magic_number_test'
    MYSTERY_GUEST = 'mystery_guest'
    REDUNDANT_ASSERTION = 'redundant_assertion'
    REDUNDANT_PRINT = 'redundant_print'
    RESOURCE_OPTIMISM = 'resource_optimism'
    SENSITIVE_EQUALITY = 'sensitive_equality'
    SLEEPY_TEST = 'sleepy_test'
    UNKNOWN_TEST = 'unknown_test'


_OF_TESTS: Mapping[JavaSmell, Callable[[JavaTest], bool]] = {
    JavaSmell.ASSERTION_ROULETTE: assertions.is_assertion_roulette,
    JavaSmell.CONDITIONAL_TEST_LOGIC: tests.is_conditional_test_logic,
    JavaSmell.CONSTRUCTOR_INITIALIZATION: tests.is_constructor_initialization,
    JavaSmell.DEFAULT_TEST: tests.is_default_test,
    JavaSmell.DUPLICATE_ASSERT: assertions.is_duplicate_assert,
    JavaSmell.EMPTY_TEST: tests.is_empty_test,
    JavaSmell.EXCEPTION_HANDLING: tests.is_exception_handling,
    JavaSmell.GENERAL_FIXTURE: tests.is_general_fixture,
    JavaSmell.IGNORED_TEST: tests.is_ignored_test,
    JavaSmell.MAGIC_NUMBER_TEST: assertions.is_magic_number_test,
    JavaSmell.MYSTERY_GUEST: calls.is_mystery_guest,
    JavaSmell.REDUNDANT_ASSERTION: assertions.is_redundant_assertion,
    JavaSmell.REDUNDANT_PRINT: tests.is_redundant_print,
    JavaSmell.RESOURCE_OPTIMISM: calls.is_resource_optimism,
    JavaSmell.SENSITIVE_EQUALITY: assertions.is_sensitive_equality,
    JavaSmell.SLEEPY_TEST: tests.is_sleepy_test,
    JavaSmell.UNKNOWN_TEST: assertions.is_unknown_test,
}
_OF_PRODUCTION: Mapping[JavaSmell, Callable[[JavaTest, DeclaredType], bool]] = {
    JavaSmell.EAGER_TEST: calls.is_eager_test,
    JavaSmell.LAZY_TEST: calls.is_lazy_test,
}


def find_smells(
    source: bytes, method: TestMethod, production: DeclaredType | None = None
) -> tuple[JavaSmell, ...]:
    """Return the smells of a test method, sorted.

    source      the test file
    production  the class under test; if None, Eager and Lazy Test are not looked for

    Raises: LookupError if the file does not declare the method.
    """
    test = parse_java_source(source).find_test(method)
    smells = [smell for smell, is_smelly in _OF_TESTS.items() if is_smelly(test)]
    if production is not None:
        smells += [smell for smell, is_so in _OF_PRODUCTION.items() if is_so(test, production)]
    return tuple(sorted(smells))


# Detect smells in Java tests; each group of smells has its own module.

__all__ = ['find_smells']
