"""The records of a report about the texts of suites: smells, assertions, errors, fixes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coevo.evaluation.reporting.bootstrap import MeanEstimate
from coevo.languages.fixes import FixRule
from coevo.languages.measures import ErrorClass


@dataclass(frozen=True, slots=True, kw_only=True)
class SmellMeans:
    """The mean number of tests of a suite with a smell, over all suites and over those that ran."""

    over_all: MeanEstimate
    over_ran: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorCounts:
    """Errors of one class.

    suites  suites with such an error
    errors  different pairs of suite and signature
    codes   numbers by the compiler's own error codes
    """

    suites: int
    errors: int
    codes: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionDensity:
    """Means over the suites that have tests, be they run or not (TAM-Eval, VI.B).

    tests                        tests of a suite
    of_suite, of_test, of_line   assertions of a suite, of a test, of a line that is not blank
    """

    tests: MeanEstimate
    of_suite: MeanEstimate
    of_test: MeanEstimate
    of_line: MeanEstimate


@dataclass(frozen=True, slots=True, kw_only=True)
class SuiteTexts:
    """Smells, assertions and errors in the texts of suites.

    smells_unknown  suites that ran and in which a test was not checked for smells
    failures        the number of tests that ran and failed, by exception
    fixes           the number of mechanical fixes by rule, where they were asked for
    """

    smells: Mapping[str, SmellMeans]
    smells_unknown: int
    errors: Mapping[ErrorClass, ErrorCounts]
    failures: Mapping[str, int]
    assertions: AssertionDensity
    fixes: Mapping[FixRule, int]
