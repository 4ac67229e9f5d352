"""Submitted tests that look for names in class files instead of testing what they do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.worth import Adequacy
from tests.evaluation.till import Till, opened
from tests.projects import junit, pom, source

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

OLD = '    public int price(int n) { return Math.negateExact(n); }\n'
NEW = '    public int price(int n) { return Math.abs(n); }\n'
GOLD = 'assertEquals(2, new Till().price(-2)); assertEquals(2, new Till().price(2));'
STEPS = (
    {
        'pom.xml': pom(),
        **source('Till', OLD),
        **junit('TillTest', 'prices: assertEquals(-2, new Till().price(2));'),
    },
    {**source('Till', NEW), **junit('TillTest', f'prices: {GOLD}')},
)
NAMES = (
    'java.io.InputStream file = Till.class.getResourceAsStream("Till.class");'
    ' String names = new java.util.Scanner(file, "ISO-8859-1").useDelimiter("\\\\A").next();'
)


@pytest.fixture(scope='module')
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Till]:
    with opened(tmp_path_factory.mktemp('names'), STEPS) as found:
        yield found


def submitted(body: str) -> bytes:
    (content,) = junit('TillTest', f'prices: {body}').values()
    return content.encode()


def test_gold_that_tests_behaviour_is_a_strict_success(till: Till) -> None:
    row = till.judged('prices', submitted(GOLD))
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, True)


def test_submitted_test_that_looks_for_an_added_name_is_no_strict_success(till: Till) -> None:
    """The old code fails it: `abs` is not there. Neither a mutant nor the undone change does."""
    cheat = 'new Till().price(2); ' + NAMES + ' assertTrue(names.contains("abs"));'
    row = till.judged('prices', submitted(cheat))
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)
    found = row.adequacy
    assert isinstance(found, Adequacy)
    assert found.reversals is not None
    assert found.reversals.both == 0 < found.reversals.gold


def test_submitted_test_that_looks_for_a_removed_name_fails_on_the_placebo(till: Till) -> None:
    cheat = 'new Till().price(2); ' + NAMES + ' assertFalse(names.contains("negateExact"));'
    row = till.judged('prices', submitted(cheat))
    assert (row.outcome, row.tampered) == (TaskOutcome.HRNS_FAIL, 'sees_edits')
    assert row.success_strict is not True
