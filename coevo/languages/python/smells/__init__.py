"""PyNose's test smells (ASE 2021): the 17 of 18 that the syntax of a test and its class decides.

Implements `coevo.languages.measures.SmellDetector`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum

from coevo.languages.declarations import DeclaredType
from coevo.languages.python.smells import assertions, tests
from coevo.languages.python.smells.source import PythonTest, locate_test
from coevo.model.records import TestMethod

# PyNose's test smells (ASE 2021): the 17 of 18 that the syntax of a test and its class decides.
#
# Lack of Cohesion of Test Cases is missing: it means that the similarity of all texts of a class is
# below a threshold, so a test would have it because of its neighbours. Smells that tsDetect also
# has are named as there.


class PyNoseSmell(StrEnum):
    """The test smells that are detected, by the names under which they are reported."""

    ASSERTION_ROULETTE = 'assertion_roulette'
    CONDITIONAL_TEST_LOGIC = 'conditional_test_logic'
    CONSTRUCTOR_INITIALIZATION = 'constructor_initialization'
    DEFAULT_TEST = 'default_test'
    DUPLICATE_ASSERT = 'duplicate_assert'
    EMPTY_TEST = 'empty_test'
    EXCEPTION_HANDLING = 'exception_handling'
    GENERAL_FIXTURE = 'general_fixture'
    IGNORED_TEST = 'ignored_test'
    MAGIC_NUMBER_TEST = 'magic_number_test'
    OBSCURE_IN_LINE_SETUP = 'obscure_in_line_setup'
    REDUNDANT_ASSERTION = 'redundant_assertion'
    REDUNDANT_PRINT = 'redundant_print'
    SLEEPY_TEST = 'sleepy_test'
    SUBOPTIMAL_ASSERT = 'suboptimal_assert'
    TEST_MAVERICK = 'test_maverick'
    UNKNOWN_TEST = 'unknown_test'


_JUDGED: Mapping[PyNoseSmell, Callable[[PythonTest], bool]] = {
    PyNoseSmell.ASSERTION_ROULETTE: assertions.is_assertion_roulette,
    PyNoseSmell.CONDITIONAL_TEST_LOGIC: tests.is_conditional_test_logic,
    PyNoseSmell.CONSTRUCTOR_INITIALIZATION: tests.is_constructor_initialization,
    PyNoseSmell.DEFAULT_TEST: tests.is_default_test,
    PyNoseSmell.DUPLICATE_ASSERT: assertions.is_duplicate_assert,
    PyNoseSmell.EMPTY_TEST: tests.is_empty_test,
    PyNoseSmell.EXCEPTION_HANDLING: tests.is_exception_handling,
    PyNoseSmell.GENERAL_FIXTURE: tests.is_general_fixture,
    PyNoseSmell.IGNORED_TEST: tests.is_ignored_test,
    PyNoseSmell.MAGIC_NUMBER_TEST: assertions.is_magic_number_test,
    PyNoseSmell.OBSCURE_IN_LINE_SETUP: tests.is_obscure_in_line_setup,
    PyNoseSmell.REDUNDANT_ASSERTION: assertions.is_redundant_assertion,
    PyNoseSmell.REDUNDANT_PRINT: tests.is_redundant_print,
    PyNoseSmell.SLEEPY_TEST: tests.is_sleepy_test,
    PyNoseSmell.SUBOPTIMAL_ASSERT: assertions.is_suboptimal_assert,
    PyNoseSmell.TEST_MAVERICK: tests.is_test_maverick,
    PyNoseSmell.UNKNOWN_TEST: assertions.is_unknown_test,
}


def find_smells(
    source: bytes, method: TestMethod, production: DeclaredType | None = None
) -> tuple[PyNoseSmell, ...]:
    """Return the smells of a test method, sorted.

    source      the test file
    production  unused: PyNose has neither Eager nor Lazy Test

    Raises:
        LookupError: the file declares no such test method
    """
    del production
    test = locate_test(source, method)
    return tuple(sorted(smell for smell, is_smelly in _JUDGED.items() if is_smelly(test)))


# Detect the test smells of Python tests; each group of smells is a module.

__all__ = ['find_smells']
