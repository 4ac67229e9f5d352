"""Lines that an observer outside of the process sees reached."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

SHOP = """\
package shop

import "example.com/shop/coins"

func Price(n int) int {
	if n < 0 { // reached
		return 0
	}
	sum := 0 // reached
	for i := 0; i < n; i++ { // reached
		sum += coins.One() // reached
	}
	done := make(chan bool) // reached
	go func() {
		done <- true // reached
	}()
	<-done // reached
	return largest(sum, n) // reached
}

func largest[T int | string](one, other T) T {
	if one > other { // reached
		return one
	}
	return other // reached
}

func unused() int {
	return 1
}
"""
# so short that it is inlined wherever it may be
COINS = 'package coins\n\nfunc One() int {\n\treturn 1 // reached\n}\n'
TESTS = """\
package shop

import "testing"

func TestPrice(t *testing.T) {
	check(t, Price(2), 2) // reached
}

func TestOther(t *testing.T) {
	check(t, 1, 1)
}

func check(t *testing.T, one, other int) {
	t.Helper()
	if one != other { // reached
		t.Errorf("%d", one)
	}
}

func TestFails(t *testing.T) { t.Fatal(unused()) }
"""
FILES = {'shop.go': SHOP, 'coins/coins.go': COINS, 'shop_test.go': TESTS}


def lines(text: str) -> list[str]:
    return text.splitlines()


ALL = {path: range(1, len(lines(text)) + 1) for path, text in FILES.items()}
MARKED = {
    path: {number for number, line in enumerate(lines(text), 1) if line.endswith('// reached')}
    for path, text in FILES.items()
}


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoPlace]:
    with opened(tmp_path_factory.mktemp('reached'), [{**GO_MOD, **FILES}]) as found:
        yield found


def test_reached_lines_are_seen_in_goroutines_inlined_and_generic_code(place: GoPlace) -> None:
    statements = {path: MARKED[path] | unmarked(path) for path in FILES}
    traced = place.built.trace(
        place.compiled(), [place.method('TestPrice')], ['shop.go'], watched=statements
    )
    (trace,) = traced.traces
    assert trace is not None
    assert trace.reached == MARKED
    covered = {one.line for one in trace.lines['shop.go'] if one.covered_instructions}
    assert covered - MARKED['shop.go'] == {14}  # where the goroutine is started


def unmarked(path: str) -> set[int]:
    """Statements that the test does not reach."""
    return {
        n
        for n, line in enumerate(lines(FILES[path]), 1)
        if line.lstrip().startswith(('return', 't.Err'))
    }


def test_failing_test_has_no_trace(place: GoPlace) -> None:
    traced = place.built.trace(place.compiled(), [place.method('TestFails')], [], watched=ALL)
    assert traced.traces == (None,)


@pytest.mark.slow
def test_first_line_of_a_test_can_be_watched(place: GoPlace) -> None:
    traced = place.built.trace(place.compiled(), [place.method('TestOther')], [], watched=ALL)
    (trace,) = traced.traces
    assert trace is not None
    assert trace.reached is not None
    first = lines(TESTS).index('func TestOther(t *testing.T) {') + 1
    assert {first, first + 1} <= trace.reached['shop_test.go']
    assert trace.reached['shop.go'] == frozenset()
