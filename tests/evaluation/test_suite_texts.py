"""Smells and errors of suites: what is counted how often, and which class an error is of."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coevo.evaluation.reporting.report import make_report
from coevo.evaluation.reporting.text_records import SuiteTexts
from coevo.evaluation.suites.records import SuiteFix, SuiteOutcome, SuiteResult, SuiteTest
from coevo.languages.fixes import FixRule
from coevo.languages.measures import ErrorClass
from coevo.languages.table import get_measures
from coevo.model.words import Outcome
from tests.evaluation.test_families import suite


def passing(*smells: str) -> SuiteTest:
    return SuiteTest(test_method='ATest#a', passes=True, outcome=Outcome.PASS, smells=smells)


def broken(signature: str, name: ErrorClass = ErrorClass.TYPES) -> SuiteTest:
    return SuiteTest(
        test_method='ATest#b',
        passes=False,
        outcome=Outcome.COMPILE_ERROR,
        signature=signature,
        error_class=name,
        smells=(),
    )


def _summarise_texts(rows: list[SuiteResult]) -> SuiteTexts:
    (family,) = make_report((), rows).families
    return family.texts


def test_tests_with_a_smell_are_counted_by_suite_in_both_means() -> None:
    rows = [
        replace(suite(0), tests=(passing('eager_test'), passing('eager_test', 'lazy_test'))),
        replace(suite(1), tests=(passing(),)),
        suite(2, SuiteOutcome.CMPL_FAIL),
        replace(suite(3), tests=(replace(passing(), smells=None),)),
    ]
    found = _summarise_texts(rows)
    eager = found.smells['eager_test']
    assert (eager.over_all.value, eager.over_all.units) == (pytest.approx(2 / 3), 3)
    assert (eager.over_ran.value, eager.over_ran.units) == (1.0, 2)
    assert found.smells['lazy_test'].over_ran.value == 0.5
    assert found.smells_unknown == 1


def test_error_class_counts_each_suite_once_and_every_error() -> None:
    two = (broken('prob.found.req int'), broken('prob.found.req int'), broken('cant.deref int'))
    rows = [
        replace(suite(0, SuiteOutcome.CMPL_FAIL), tests=two),
        replace(suite(1, SuiteOutcome.CMPL_FAIL), tests=two[:1]),
        # nobody can tell the tests of a file apart that cannot be read
        suite(2, SuiteOutcome.CMPL_FAIL),
    ]
    found = _summarise_texts(rows).errors
    assert (found[ErrorClass.TYPES].suites, found[ErrorClass.TYPES].errors) == (2, 3)
    assert found[ErrorClass.TYPES].codes == {'cant.deref': 1, 'prob.found.req': 2}
    assert (found[ErrorClass.SYNTAX].errors, len(found)) == (1, 2)


def test_failures_are_counted_by_their_exception() -> None:
    failed = replace(passing(), passes=False, outcome=Outcome.FAIL, signature='AssertionError@a.py')
    rows = [replace(suite(0), tests=(failed, failed, passing()))]
    assert _summarise_texts(rows).failures == {'AssertionError': 2}


@pytest.mark.parametrize(
    ('language', 'signature', 'name'),
    [
        ('java', 'cant.resolve.location variable nothing', 'cannot_find_symbol'),
        ('java', 'cant.resolve.location.args method pay(int)', 'cannot_find_symbol'),
        ('java', 'cant.resolve.location.args constructor Till(int)', 'instantiation'),
        ('java', 'cant.apply.symbol constructor Till in class Till cannot be', 'instantiation'),
        ('java', 'cant.apply.symbol method pay in class Till cannot be applied', 'types'),
        ('java', 'abstract.cant.be.instantiated Till is abstract', 'instantiation'),
        ('java', 'doesnt.exist package org.mockito does not exist', 'imports'),
        ('java', 'does.not.override.abstract A is not abstract', 'override'),
        ('java', 'method.does.not.override.superclass', 'override'),
        ('java', 'report.access tax has private access in Till', 'access'),
        ('java', 'not.def.public.cant.access Till is not public', 'access'),
        ('java', 'prob.found.req incompatible types: String cannot be', 'types'),
        ('java', "expected ';' expected", 'syntax'),
        ('java', 'illegal.start.of.expr', 'syntax'),
        ('java', 'class.public.should.be.in.file class A is public', 'syntax'),
        ('java', 'cant.assign.val.to.var final count', 'final'),
        ('java', 'cant.assign.val.to.final.var count', 'final'),
        ('java', 'cant.ref.non.effectively.final.var count', 'final'),
        ('java', 'unreported.exception.need.to.catch.or.throw', 'other'),
        ('python', 'ModuleNotFoundError@tests/test_a.py', 'imports'),
        ('python', 'SyntaxError@tests/test_a.py', 'syntax'),
        ('python', 'NameError@tests/test_a.py', 'cannot_find_symbol'),
        ('python', 'missing:till.nothing', 'cannot_find_symbol'),
        ('python', 'TypeError@tests/test_a.py', 'types'),
        ('python', 'shop.OwnError@tests/test_a.py', 'other'),
    ],
)
def test_error_signature_is_classified_by_language(
    language: str, signature: str, name: str
) -> None:
    known = get_measures(language).errors
    assert known is not None
    assert known.classify_error(signature) == name


def test_assertion_density_is_of_suites_in_which_every_test_is_counted() -> None:
    one, four = (
        replace(passing(), assertions=number, lines=lines) for number, lines in ((1, 2), (4, 8))
    )
    unrun = replace(broken('cant.deref int'), assertions=3, lines=10)
    rows = [
        replace(suite(0), tests=(one, four)),
        replace(suite(1, SuiteOutcome.CMPL_FAIL), tests=(unrun,)),
        replace(suite(2), tests=(one, passing())),
        suite(3, SuiteOutcome.NO_TESTS),
    ]
    found = _summarise_texts(rows).assertions
    assert (found.tests.value, found.tests.units) == (1.5, 2)
    assert found.of_suite.value == 4.0
    assert found.of_test.value == (2.5 + 3) / 2
    assert found.of_line.value == pytest.approx((0.5 + 0.3) / 2)


def test_fixes_are_counted_by_rule() -> None:
    fixes = tuple(
        SuiteFix(rule=rule, text='x')
        for rule in (FixRule.IMPORT_ADDED, FixRule.IMPORT_ADDED, FixRule.BRACKETS)
    )
    rows = [replace(suite(0), fixes=fixes), suite(1)]
    assert _summarise_texts(rows).fixes == {'import_added': 2, 'brackets': 1}
