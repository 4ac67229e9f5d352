"""Tests of one name in several files of a package: each file has outcomes of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.verdicts import PLAIN, RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

CONSTRAINED = """\
//go:build {constraint}

package shop

import "testing"

func TestSystem(t *testing.T) {{ {body} }}
"""

INSIDE = """\
package shop

import (
	"fmt"
	"testing"
)

func TestSells(t *testing.T) { t.Parallel() }

func TestPanics(t *testing.T) { t.Run("below", func(t *testing.T) {}) }

func TestFails(t *testing.T) { t.Run("below", func(t *testing.T) { t.Fatal("no") }) }

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) {})
}

func Example() {
	fmt.Println("one")
	// Output: one
}
"""

OUTSIDE = """\
package shop_test

import (
	"fmt"
	"testing"
)

func TestSells(t *testing.T) { t.Parallel(); t.Fatal("no") }

func TestPanics(t *testing.T) { panic("no") }

func TestFails(t *testing.T) { t.Run("below", func(t *testing.T) {}) }

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { t.Fatal(n) })
}

func Example() {
	fmt.Println("two")
	// Output: one
}
"""

FILES = {
    **GO_MOD,
    'shop.go': 'package shop\n',
    'in_test.go': INSIDE,
    'out_test.go': OUTSIDE,
    'here_test.go': CONSTRAINED.format(constraint='unix', body=''),
    'elsewhere_test.go': CONSTRAINED.format(constraint='!unix', body=''),
    'tagged_test.go': CONSTRAINED.format(constraint='integration', body='undeclared()'),
    'shop_windows_test.go': 'package shop\n\nimport "testing"\n\nfunc TestSystem(t *testing.T) {}\n',
}

OUTCOMES = {
    ('in_test.go', 'TestSells'): Outcome.PASS,
    ('out_test.go', 'TestSells'): Outcome.FAIL,
    ('in_test.go', 'TestPanics'): Outcome.PASS,
    ('out_test.go', 'TestPanics'): Outcome.ERROR,
    ('in_test.go', 'TestFails'): Outcome.FAIL,
    ('out_test.go', 'TestFails'): Outcome.PASS,
    ('in_test.go', 'FuzzSeeds'): Outcome.PASS,
    ('out_test.go', 'FuzzSeeds'): Outcome.FAIL,
    ('in_test.go', 'Example'): Outcome.PASS,
    ('out_test.go', 'Example'): Outcome.FAIL,
    ('here_test.go', 'TestSystem'): Outcome.PASS,
    ('elsewhere_test.go', 'TestSystem'): Outcome.MISSING,
    ('tagged_test.go', 'TestSystem'): Outcome.MISSING,
    ('shop_windows_test.go', 'TestSystem'): Outcome.MISSING,
}


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoPlace]:
    with opened(tmp_path_factory.mktemp('namesakes'), [FILES]) as found:
        yield found


@pytest.mark.parametrize('conditions', [PLAIN, RunConditions(observed=True)], ids=['plain', 'seen'])
@pytest.mark.parametrize(('file', 'name'), OUTCOMES)
def test_outcome_is_that_of_the_test_in_its_own_file(
    place: GoPlace, file: str, name: str, conditions: RunConditions
) -> None:
    method = place.method(name, file)
    (found,) = place.built.run(place.compiled(), [method], conditions).verdicts
    assert found is not None
    assert found.outcome is OUTCOMES[file, name], found
    assert not found.tampered


def test_tests_of_one_name_have_outcomes_of_their_own_in_one_process(place: GoPlace) -> None:
    keys = [key for key in OUTCOMES if key[1] in ('TestSells', 'TestFails', 'TestSystem')]
    methods = [place.method(name, file) for file, name in keys]
    found = place.built.run(place.compiled(), methods).verdicts
    assert [verdict and verdict.outcome for verdict in found] == [OUTCOMES[key] for key in keys]


def test_file_that_is_not_compiled_here_does_not_break(place: GoPlace) -> None:
    compiled = place.compiled()
    tagged = place.method('TestSystem', 'tagged_test.go')
    assert place.built.find_compile_verdict(compiled, tagged) is None


def test_trace_is_not_that_of_a_test_of_the_same_name(place: GoPlace) -> None:
    methods = [place.method('TestFails', 'in_test.go'), place.method('TestFails', 'out_test.go')]
    batch = place.built.trace(place.compiled(), methods, ['shop.go'])
    assert [trace is None for trace in batch.traces] == [True, False]
