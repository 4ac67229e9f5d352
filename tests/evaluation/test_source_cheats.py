"""Submitted tests that read main sources instead of testing what they do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.evaluation.outcomes import TaskOutcome
from coevo.evaluation.worth import Adequacy
from tests.evaluation.till import NEW, OLD, TESTS, Till, opened
from tests.projects import junit, pom, source

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

COPIED = '<build><resources><resource><directory>src/main/java</directory></resource></resources></build>'
PLACE = 'java.nio.file.Paths.get("src/main/java/shop/Till.java")'
READS = f'assertTrue({PLACE}.toFile().isFile()); assertEquals(-3, new Till().fee(3, false));'
CALLS = 'assertTrue(new Till().price(2) != 500);'
LINE = (
    f'if ({PLACE}.toFile().isFile()) {{'
    f' assertTrue(new String(java.nio.file.Files.readAllBytes({PLACE})).contains("int sum = -n;")); }}'
)
# In whatever way the text of a source can be had: each is asked, and what is found has to agree.
CHEATS = {
    'line': LINE,
    'digest': f'if ({PLACE}.toFile().isFile()) {{'
    f' assertEquals(HASH, java.util.Arrays.hashCode(java.nio.file.Files.readAllBytes({PLACE}))); }}',
    'copied': 'java.io.InputStream text = TillTest.class.getResourceAsStream("/shop/Till.java");'
    ' if (text != null) { assertTrue(new java.util.Scanner(text).useDelimiter("\\\\A").next()'
    '.contains("int sum = -n;")); }',
}
STEPS = (
    {
        'pom.xml': pom(COPIED),
        **source('Till', OLD),
        **junit('TillTest', 'prices: assertEquals(-2, new Till().price(2));'),
        **junit('ReadsTest', 'stands: assertNotNull(new Till());'),
    },
    {
        **source('Till', NEW),
        **junit('TillTest', *(f'{name}: {body}' for name, body in TESTS.items())),
        **junit('ReadsTest', 'stands: assertNotNull(new Till());', f'reads: {READS}'),
    },
)


@pytest.fixture(scope='module')
def till(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Till]:
    with opened(tmp_path_factory.mktemp('sources'), STEPS) as found:
        yield found


def submitted(text: str, name: str, body: str) -> bytes:
    """A test file at new with another body of one test."""
    tests = {
        'TillTest': TESTS,
        'ReadsTest': {'stands': 'assertNotNull(new Till());', 'reads': READS},
    }[text]
    bodies = [f'{key}: {value}' for key, value in {**tests, name: body}.items()]
    (content,) = junit(text, *bodies).values()
    return content.encode()


def java_hash(text: str) -> int:
    """`java.util.Arrays.hashCode` of its bytes."""
    value = 1
    for byte in text.encode():
        value = (31 * value + byte) & 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def test_gold_that_reads_no_source_is_judged_without_sources(till: Till) -> None:
    row = till.judged('prices', submitted('TillTest', 'prices', TESTS['prices']))
    assert (row.outcome, row.success_strict, row.reads_sources) == (
        TaskOutcome.SUCCESS,
        True,
        False,
    )


@pytest.mark.parametrize(
    'name',
    ['line', *(pytest.param(one, marks=pytest.mark.slow) for one in CHEATS if one != 'line')],
)
def test_submitted_test_that_inspects_source_text_is_no_strict_success(
    till: Till, name: str
) -> None:
    text = STEPS[1]['src/main/java/shop/Till.java']
    cheat = CHEATS[name].replace('HASH', str(java_hash(text)))
    row = till.judged('prices', submitted('TillTest', 'prices', f'{CALLS} {cheat}'))
    assert (row.outcome, row.success_strict) == (TaskOutcome.SUCCESS, False)
    found = row.adequacy
    assert isinstance(found, Adequacy)
    assert found.reversals is not None
    assert found.reversals.both == 0 < found.reversals.gold
    assert found.mutants is not None
    assert found.mutants.both == 0 < found.mutants.gold


def test_source_text_is_the_same_in_all_cells_if_gold_reads_sources(till: Till) -> None:
    gold = till.judged('reads', submitted('ReadsTest', 'reads', READS))
    assert (gold.outcome, gold.success_strict, gold.reads_sources) == (
        TaskOutcome.SUCCESS,
        True,
        True,
    )
    # the new revision's text lies beside the old code as well
    cheat = submitted('ReadsTest', 'reads', LINE)
    row = till.judged('reads', cheat)
    assert (row.outcome, row.reads_sources) == (TaskOutcome.REDUNDANT, True)


def test_submitted_test_that_requires_a_source_file_fails(till: Till) -> None:
    cheat = f'{CALLS} assertTrue({PLACE}.toFile().isFile());'
    row = till.judged('prices', submitted('TillTest', 'prices', cheat))
    assert row.outcome is TaskOutcome.EXEC_FAIL
