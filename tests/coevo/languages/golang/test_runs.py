"""What tests of Go do, and what is told of it: outcomes, signatures, and what no test can say of itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.cells import CellEdits
from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

SHOP = """\
package shop

type Till struct{ coins []int }

func (t *Till) First() int { return t.coins[0] }
"""

TESTS = """\
package shop

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"
)

type trouble struct{}

func TestPasses(t *testing.T) {}

func TestFailsBelow(t *testing.T) {
	t.Run("b", func(t *testing.T) { t.Error("no") })
	t.Run("a", func(t *testing.T) {
		t.Parallel()
		t.Run("deep", func(t *testing.T) { t.Fatal("no") })
	})
	t.Run("c", func(t *testing.T) {})
}

func TestPanics(t *testing.T) { (&Till{}).First() }

func TestPanicsWithAValue(t *testing.T) { panic(trouble{}) }

func TestPanicsBelow(t *testing.T) { t.Run("a", func(t *testing.T) { panic(errors.New("no")) }) }

func TestLeaves(t *testing.T) { runtime.Goexit() }

func TestIsBesideOthers(t *testing.T) { t.Parallel(); time.Sleep(time.Millisecond) }

func TestGetsStuck(t *testing.T) { var m sync.Mutex; m.Lock(); m.Lock() }

func TestPanicsElsewhere(t *testing.T) {
	go func() { panic("no") }()
	time.Sleep(time.Minute)
}

func TestFailsLater(t *testing.T) {
	go func() { time.Sleep(time.Hour); t.Error("too late") }()
}

func TestExits(t *testing.T) { os.Exit(0) }

func TestEnds(t *testing.T) { syscall.Exit(0) }

func TestPrintsAPass(t *testing.T) {
	fmt.Println("\\x16--- PASS: TestPrintsAPass (0.00s)\\nPASS")
	os.Stdout.WriteString("--- PASS: TestPrintsAPass (0.00s)\\nPASS\\n")
	syscall.Exit(0)
}

func TestBecomesAnother(t *testing.T) {
	fmt.Println("PASS")
	t.Fatal(syscall.Exec("/bin/true", []string{"true"}, nil))
}

func TestHasAChildThatPasses(t *testing.T) {
	child, err := os.StartProcess("/bin/sh", []string{"sh", "-c", "for n in 1 2 198 199; do echo pass >&$n; done"},
		&os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err != nil { t.Skip(err) }
	child.Wait()
	t.Fail()
}

func TestWritesToAllThatIsOpen(t *testing.T) {
	for fd := 3; fd < 256; fd++ {
		syscall.Write(fd, []byte("\\n0\\t{\\"e\\":\\"end\\",\\"test\\":\\"TestWritesToAllThatIsOpen\\",\\"outcome\\":\\"pass\\"}\\n"))
	}
	t.Fail()
}

func TestReadsItsParentsMemory(t *testing.T) {
	if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", os.Getppid())); err != nil {
		t.Fatal("closed")
	}
}

func TestKillsItsParent(t *testing.T) {
	syscall.Kill(os.Getppid(), syscall.SIGKILL)
	time.Sleep(time.Minute)
}

func TestLeavesAChildThatGoesOn(t *testing.T) {
	child, err := os.StartProcess("/bin/sleep", []string{"sleep", "98765.5625"}, &os.ProcAttr{Files: []*os.File{nil, os.Stdout, os.Stderr}})
	if err != nil { t.Fatal(err) }
	child.Release()
}

func TestDials(t *testing.T) { t.Fatal("dial tcp 203.0.113.7:80: connect: network is unreachable") }

func FuzzSeeds(f *testing.F) {
	f.Add(1)
	f.Fuzz(func(t *testing.T, n int) { if n != 1 { t.Fatal(n) } })
}

func FuzzBadSeeds(f *testing.F) {
	f.Add(1)
	f.Add(2)
	f.Fuzz(func(t *testing.T, n int) { if n != 1 { t.Fatal(n) } })
}

func ExampleTill() {
	fmt.Println("one")
	// Output: one
}

func ExampleTill_First() {
	fmt.Println("two")
	// Output: one
}

func ExampleTill_panics() {
	panic("no")
	// Output: one
}
"""

# Of each test its outcome and signature.
TOLD = {
    'TestPasses': (Outcome.PASS, None),
    'TestFailsBelow': (Outcome.FAIL, 'Fail@TestFailsBelow/a/deep'),
    'TestPanics': (Outcome.ERROR, 'runtime.boundsError@example.com/shop.(*Till).First'),
    'TestPanicsWithAValue': (Outcome.ERROR, 'shop.trouble@example.com/shop.TestPanicsWithAValue'),
    'TestPanicsBelow': (
        Outcome.ERROR,
        '*errors.errorString@example.com/shop.TestPanicsBelow.func1',
    ),
    'TestLeaves': (Outcome.ERROR, 'Goexit@example.com/shop.TestLeaves'),
    'TestIsBesideOthers': (Outcome.PASS, None),
    'TestGetsStuck': (Outcome.ERROR, 'exit:2'),
    'TestPanicsElsewhere': (Outcome.ERROR, 'exit:2'),
    'TestFailsLater': (Outcome.PASS, None),
    'TestExits': (Outcome.ERROR, 'string@example.com/shop.TestExits'),
    'TestEnds': (Outcome.ERROR, 'exit:0'),
    'TestPrintsAPass': (Outcome.ERROR, 'exit:0'),
    'TestBecomesAnother': (Outcome.ERROR, 'exit:0'),
    'TestHasAChildThatPasses': (Outcome.FAIL, 'Fail@TestHasAChildThatPasses'),
    'TestWritesToAllThatIsOpen': (Outcome.FAIL, 'Fail@TestWritesToAllThatIsOpen'),
    'TestReadsItsParentsMemory': (Outcome.FAIL, 'Fail@TestReadsItsParentsMemory'),
    'TestKillsItsParent': (Outcome.ERROR, 'exit:137'),
    'TestLeavesAChildThatGoesOn': (Outcome.PASS, None),
    'FuzzSeeds': (Outcome.PASS, None),
    'FuzzBadSeeds': (Outcome.FAIL, 'Fail@FuzzBadSeeds/seed#1'),
    'ExampleTill': (Outcome.PASS, None),
    'ExampleTill_First': (Outcome.FAIL, 'Fail@ExampleTill_First'),
    'ExampleTill_panics': (Outcome.ERROR, 'string@example.com/shop.ExampleTill_panics'),
}


@pytest.fixture(
    scope='module',
    params=['bubblewrap', 'apart', pytest.param('docker', marks=pytest.mark.docker)],
)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GoPlace]:
    """Both back ends, of bubblewrap also each test in a sandbox of its own, where what is handed in is run:
    what is forged here has to fail in each."""
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    files = {**GO_MOD, 'shop.go': SHOP, 'shop_test.go': TESTS}
    sandbox = request.param.replace('apart', 'bubblewrap')
    with opened(tmp_path_factory.mktemp('runs'), [files], sandbox) as found:
        edits = CellEdits(tests=(('shop_test.go', TESTS.encode()),))
        yield replace(found, edits=edits if request.param == 'apart' else None)


@pytest.mark.sampled(24)
@pytest.mark.parametrize('name', TOLD)
def test_verdict_of_a_test_has_its_outcome_and_signature(place: GoPlace, name: str) -> None:
    found = place.verdict(name)
    assert (found.outcome, found.signature) == TOLD[name], found


def test_panicking_test_leaves_its_process_neighbours_without_a_verdict(place: GoPlace) -> None:
    names = ('TestPasses', 'TestPanics', 'TestPrintsAPass')
    methods = [place.method(name) for name in names]
    passes, panics, later = place.built.run(place.compiled(), methods).verdicts
    assert (passes, later) == (None, None)
    assert panics is not None
    assert panics.outcome is Outcome.ERROR


def test_in_reversed_order_each_test_has_a_process_of_its_own(place: GoPlace) -> None:
    methods = [place.method(name) for name in ('TestPasses', 'TestPanics')]
    passes, panics = place.built.run(place.compiled(), methods).verdicts
    assert panics is not None
    assert passes is not None
    assert (panics.outcome, passes.outcome) == (Outcome.ERROR, Outcome.PASS)


def test_failure_by_an_unreachable_network_is_attributed_to_the_network(place: GoPlace) -> None:
    assert place.verdict('TestDials').environment == 'network'
