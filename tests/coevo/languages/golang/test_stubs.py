"""One error breaks a package; which of its tests it breaks is told, and the others are run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.cells import CellEdits
from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

OLD = """\
package shop

func Price() int { return 1 }

func Gone() int { return 1 }

type Till struct{ Old int }

func (t Till) Sum(n int) int { return n }
"""
NEW = """\
package shop

func Price() int { return 1 }

type Till struct{ New int }

func (t Till) Sum(n, m int) int { return n + m }
"""
TESTS = """\
package shop

import (
	"runtime"
	"strings"
	"testing"
)

var table = []int{1, 2}

var broken = []int{
	Gone(),
}

type bag struct{ till Till }

func (b bag) sum() int { return b.till.Sum(1) }

func helper() int { return Gone() }

func TestIsFine(t *testing.T) {
	if Price() != table[0] {
		t.Fatal()
	}
}

func TestCallsWhatIsGone(t *testing.T) { Gone() }

func TestUsesAHelper(t *testing.T) { helper() }

func TestUsesATable(t *testing.T) { t.Log(broken) }

func TestUsesAMethod(t *testing.T) { bag{}.sum() }

func TestUsesATypeAlone(t *testing.T) { _ = bag{} }

func TestUsesAField(t *testing.T) {
	t.Log(strings.ToUpper("x"))
	t.Log(Till{}.Old)
}

func TestIsInItsLine(t *testing.T) {
	if _, _, line, _ := runtime.Caller(0); line != 43 {
		t.Fatal(line)
	}
}
"""
EXTERNAL = """\
package shop_test

import (
	"testing"

	"example.com/shop"
	"example.com/shop/missing"
	"example.com/shop/prices"
)

func TestFromOutside(t *testing.T) { _ = shop.Price() + prices.One() }

func TestFromOutsideIsBroken(t *testing.T) { shop.Gone() }

func TestLacksAPackage(t *testing.T) { missing.Call() }
"""
SYNTAX = 'package shop\n\nimport "testing"\n\nfunc TestIsTorn(t *testing.T) { {\n'
BROKEN = {
    'TestCallsWhatIsGone': 'undefined: Gone',
    'TestUsesAHelper': 'undefined: Gone',
    'TestUsesATable': 'undefined: Gone',
    'TestUsesAMethod': 'not enough arguments in call to b.till.Sum',
    'TestUsesAField': 'Till{}.Old undefined (type Till has no field or method Old)',
    'TestFromOutsideIsBroken': 'undefined: shop.Gone',
    'TestLacksAPackage': 'could not import example.com/shop/missing',
}
FILES = {'TestIsTorn': 'torn_test.go'} | dict.fromkeys(
    ('TestFromOutside', 'TestFromOutsideIsBroken', 'TestLacksAPackage'), 'outside_test.go'
)


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoPlace]:
    old = {
        **GO_MOD,
        'shop.go': OLD,
        'missing/missing.go': 'package missing\n\nfunc Call() {}\n',
        'prices/prices.go': 'package prices\n\nfunc One() int { return 1 }\n',
        'shop_test.go': TESTS,
        'outside_test.go': EXTERNAL,
        'torn_test.go': SYNTAX,
    }
    new = {'shop.go': NEW, 'missing/missing.go': None}
    with opened(tmp_path_factory.mktemp('stubs'), [old, new]) as found:
        yield found


def test_each_broken_test_has_its_own_compile_verdict(place: GoPlace) -> None:
    compiled = place.compiled()
    assert not compiled.unit_ok
    names = [*BROKEN, 'TestIsFine', 'TestUsesATypeAlone', 'TestFromOutside', 'TestIsTorn']
    told = {
        name: place.built.find_compile_verdict(compiled, place.method(name, FILES.get(name, '')))
        for name in names
    }
    found = {name: verdict.signature for name, verdict in told.items() if verdict is not None}
    torn = found.pop('TestIsTorn')
    assert torn
    assert found == BROKEN
    verdict = told['TestIsTorn']
    assert verdict is not None
    assert verdict.syntax


@pytest.mark.parametrize(
    'name', ['TestIsFine', 'TestUsesATypeAlone', 'TestIsInItsLine', 'TestFromOutside']
)
def test_tests_that_compile_run_in_a_broken_package(place: GoPlace, name: str) -> None:
    method = place.method(name, FILES.get(name, ''))
    (found,) = place.built.run(place.compiled(), [method]).verdicts
    assert found is not None
    assert found.outcome is Outcome.PASS


@pytest.mark.parametrize('path', ['shop.go', 'prices/prices.go'])
def test_code_that_does_not_compile_makes_tests_unbuildable(place: GoPlace, path: str) -> None:
    """Not even where tests alone import it."""
    package = path.rpartition('/')[0] or 'shop'
    text = f'package {package}\n\nfunc One() int {{ return "" }}\n'
    edits = CellEdits(code=((path, text.encode()),))
    compiled = place.compiled(edits=edits)
    assert compiled.code_failure
    verdict = place.built.find_compile_verdict(compiled, place.method('TestIsFine'))
    assert verdict is not None
    assert verdict.outcome is Outcome.UNBUILDABLE


CLASH = """\
package shop

import (
	"encoding/hex"
	"testing"
)

func TestEncodes(t *testing.T) { t.Log(hex.EncodeToString([]byte("x"))) }

func TestPriceBesideHex(t *testing.T) { t.Log(Price()) }
"""


def test_import_clashing_with_a_code_name_breaks_only_its_users(place: GoPlace) -> None:
    """The compiler tells it in the code's file, which compiles without that test."""
    code = f'{NEW}\nconst hex = "0123456789abcdef"\n'
    edits = CellEdits(
        tests=(('clash_test.go', CLASH.encode()),), code=(('shop.go', code.encode()),)
    )
    compiled = place.compiled(edits=edits)
    assert compiled.code_failure is None
    told = {
        name: place.built.find_compile_verdict(compiled, place.method(name, 'clash_test.go'))
        for name in ('TestEncodes', 'TestPriceBesideHex')
    }
    broken = told.pop('TestEncodes')
    assert broken is not None
    assert broken.outcome is Outcome.COMPILE_ERROR
    assert told == {'TestPriceBesideHex': None}
