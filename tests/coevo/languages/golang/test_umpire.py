"""What `go test` itself says of the tests of a package, and that no test can say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.verdicts import ProjectRun
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

TESTS = """\
package shop

import (
	"fmt"
	"testing"
)

var sold int

func TestSells(t *testing.T) { sold++ }

func TestComesAfterASale(t *testing.T) { if sold == 0 { t.Fatal("nothing was sold") } }

func TestFails(t *testing.T) { t.Run("below", func(t *testing.T) { t.Fatal("no") }) }

func TestPrintsAPass(t *testing.T) {
	fmt.Println("--- PASS: TestPrintsAPass (0.00s)")
	t.Fatal("no")
}

func TestSkips(t *testing.T) { t.Skip() }

func ExampleSells() {
	fmt.Println("one")
	// Output: one
}
"""
OUTSIDE = 'package shop_test\n\nimport "testing"\n\nfunc TestFails(t *testing.T) {}\n'
OUTCOMES = {
    ('shop_test.go', 'TestSells'): Outcome.PASS,
    ('shop_test.go', 'TestComesAfterASale'): Outcome.PASS,
    ('shop_test.go', 'TestFails'): Outcome.FAIL,
    ('shop_test.go', 'TestPrintsAPass'): Outcome.FAIL,
    ('shop_test.go', 'TestSkips'): Outcome.SKIPPED,
    ('shop_test.go', 'ExampleSells'): Outcome.PASS,
    ('out_test.go', 'TestFails'): Outcome.PASS,
}
SHOP = {**GO_MOD, 'shop.go': 'package shop\n\nfunc Sells() {}\n'}


def asked(place: GoPlace, *keys: tuple[str, str]) -> ProjectRun:
    methods = [place.method(name, file) for file, name in keys]
    return place.built.run_project(place.built.new.rev, '.', methods)


def test_outcomes_are_those_of_one_run_of_the_whole_package(tmp_path: Path) -> None:
    files = {**SHOP, 'shop_test.go': TESTS, 'out_test.go': OUTSIDE}
    with opened(tmp_path, [files]) as place:
        found = asked(place, *OUTCOMES, ('shop_test.go', 'TestIsAbsent'))
        assert found.failure is None
        assert {(m.test_file, m.test_method): o for m, o in found.outcomes.items()} == OUTCOMES
        assert found.cpu_seconds > 0
        assert place.verdict('TestComesAfterASale').outcome is Outcome.FAIL


def test_package_that_builds_for_nobody_is_unbuildable(tmp_path: Path) -> None:
    files = {**SHOP, 'shop.go': 'package shop\n\nfunc Sells() { undeclared() }\n'}
    with opened(tmp_path, [{**files, 'shop_test.go': TESTS}]) as place:
        ruling = asked(place, ('shop_test.go', 'TestSells'), ('shop_test.go', 'TestFails'))
        assert ruling.failure is None
        assert set(ruling.outcomes.values()) == {Outcome.UNBUILDABLE}
        assert len(ruling.outcomes) == 2


@pytest.mark.slow
@pytest.mark.parametrize(
    'body',
    ['fmt.Printf("%d\\n", "one")', 'undeclared()', 'syscall.Exit(0)', 'syscall.Exit(3)'],
    ids=['vet', 'build', 'exit', 'failure'],
)
def test_package_that_go_test_does_not_run_to_its_end_has_no_pass(
    tmp_path: Path, body: str
) -> None:
    imports = (
        f'import (\n\t"{body.partition(".")[0]}"\n\t"testing"\n)'
        if '.' in body
        else 'import "testing"'
    )
    test = f'package shop\n\n{imports}\n\nfunc TestIt(t *testing.T) {{ {body} }}\n'
    with opened(tmp_path, [{**SHOP, 'shop_test.go': test}]) as place:
        found = asked(place, ('shop_test.go', 'TestIt'))
        assert Outcome.PASS not in found.outcomes.values()
        if 'Exit' not in body:
            assert found.failure == 'exit:1'
