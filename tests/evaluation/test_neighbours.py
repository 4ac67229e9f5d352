"""Which other tests of its file a patch costs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from tests.evaluation.till import Till, opened
from tests.projects import junit, pom, source

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

HEAD = 'package shop;\n\nimport static org.junit.Assert.*;\nimport org.junit.*;\n\n'
ONE = '    protected int one() { return 1; }\n'
STANDS = '    @Test public void stands() { assertEquals(1, new Till().price(1) * one()); }\n'
STAYS = '    @Test public void stays() { assertEquals(2, new Till().price(2) * one()); }\n'
NEVER = '    @Test public void never() { fail(); }\n'
FEES = '    @Test public void fees() { assertEquals(-2, new Till().fee(2)); }\n'
PRICE = '    public int price(int n) { return n; }\n'
STEPS = (
    {
        'pom.xml': pom(),
        **source('Till', PRICE),
        'src/test/java/shop/TillTest.java': (
            f'{HEAD}public class TillTest {{\n{ONE}{STANDS}{STAYS}{NEVER}}}\n'
        ),
        'src/test/java/shop/SubTest.java': (
            f'{HEAD}public class SubTest extends TillTest {{\n'
            '    @Test public void below() { assertEquals(1, one()); }\n}\n'
        ),
        **junit('OtherTest', 'apart: assertTrue(true);'),
    },
    {
        **source('Till', f'{PRICE}    public int fee(int n) {{ return -n; }}\n'),
        'src/test/java/shop/TillTest.java': (
            f'{HEAD}public class TillTest {{\n{ONE}{STANDS}{STAYS}{NEVER}{FEES}}}\n'
        ),
    },
)


@pytest.fixture(scope='module')
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Till]:
    with opened(tmp_path_factory.mktemp('neighbours'), STEPS) as found:
        yield found


COUNTED = '    static int calls;\n    protected int one() { return Math.min(1, 3 - Math.max(2, ++calls)); }\n'


# One loss and one that is none are asked each time.
SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ('body', 'lost', 'strict'),
    [
        pytest.param(f'{ONE}{STANDS}{STAYS}{NEVER}{FEES}', 0, True, id='gold'),
        pytest.param(f'{ONE}{STANDS}{STAYS}{FEES}', 0, True, id='without-a-broken-one', marks=SLOW),
        pytest.param(f'{ONE}{FEES}', 2, False, id='alone'),
        pytest.param(
            f'{ONE}{STANDS.replace("@Test", "@Ignore @Test")}{STAYS}{FEES}',
            1,
            False,
            id='ignored',
            marks=SLOW,
        ),
        pytest.param(
            f'{ONE.replace("1", "3")}{STANDS}{STAYS}{FEES}',
            3,
            False,
            id='helper-of-all',
            marks=SLOW,
        ),
        pytest.param(f'{COUNTED}{STANDS}{STAYS}{FEES}', 0, True, id='passes-alone'),
    ],
)
def test_neighbours_that_passed_at_the_start_and_no_longer_pass_are_lost(
    till: Till, body: str, lost: int, strict: bool
) -> None:
    row = till.judged('fees', f'{HEAD}public class TillTest {{\n{body}}}\n'.encode())
    assert row.outcome is TaskOutcome.SUCCESS
    assert (row.others_asked, row.others_lost, row.success_strict) == (3, lost, strict)
    assert row.others_weakened == 0


@pytest.mark.parametrize(
    ('stands', 'weakened'),
    [
        ('    @Test public void stands() { }\n', 1),
        ('    @Test public void stands() { assertEquals(2, new Till().price(2)); }\n', 0),
    ],
)
def test_neighbours_that_pass_with_fewer_assertions_are_weakened(
    till: Till, stands: str, weakened: int
) -> None:
    body = f'{ONE}{stands}{STAYS}{NEVER}{FEES}'
    row = till.judged('fees', f'{HEAD}public class TillTest {{\n{body}}}\n'.encode())
    assert (row.others_lost, row.others_weakened) == (0, weakened)
    assert row.success_strict is (weakened == 0)
