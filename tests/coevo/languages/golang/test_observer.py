"""Passes that are seen from outside of the process, and what forges them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.verdicts import PLAIN
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

TESTS = """\
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

func TestPasses(t *testing.T) {}

func TestRunsOthersBesideEachOther(t *testing.T) {
	for i := 0; i < 20; i++ {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			var all sync.WaitGroup
			for j := 0; j < 20; j++ {
				all.Add(1)
				go func() { defer all.Done(); runtime.Gosched() }()
			}
			all.Wait()
		})
	}
}

func TestFailsAnotherOne(t *testing.T) {
	var other testing.T
	for i := 0; i < 50; i++ {
		other.Fail()
	}
}

// It is called again once there is room for its frame, and then without its argument, which it does not use.
func TestNeedsMoreStack(t *testing.T) {
	var all [1 << 16]byte
	for i := range all {
		all[i] = byte(i * i)
	}
	fmt.Fprint(io.Discard, all[runtime.NumGoroutine()])
}

func TestStartsAProgram(t *testing.T) {
	if said, err := exec.Command("/bin/echo", "a").Output(); err != nil || string(said) != "a\\n" {
		t.Fatal(err)
	}
}

func TestFails(t *testing.T) { t.Error("no") }

func TestFailsBelow(t *testing.T) { t.Run("a", func(t *testing.T) { t.Fatal("no") }) }

func FuzzSeeds(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, a int) {}) }

func ExampleSays() {
	fmt.Println("a")
	// Output: a
}

func ExampleSaysOtherwise() {
	fmt.Println("a")
	// Output: b
}

func entry(name string) uintptr {
	at, _, _, _ := runtime.Caller(0)
	for at &^= 15; ; at -= 16 {
		if found := runtime.FuncForPC(at); found != nil && found.Name() == name {
			return found.Entry()
		}
	}
}

func TestChangesTheCode(t *testing.T) {
	memory, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	memory.WriteAt([]byte{0xc3}, int64(entry("testing.(*common).Fail")))
	t.Error("no")
}

func secret() string {
	// What is read here is much: a collection in between may take what is looked for.
	debug.SetGCPercent(-1)
	maps, _ := os.ReadFile("/proc/self/maps")
	memory, _ := os.Open("/proc/self/mem")
	for _, line := range strings.Split(string(maps), "\\n") {
		ends := regexp.MustCompile("^(\\\\w+)-(\\\\w+) rw").FindStringSubmatch(line)
		if ends == nil {
			continue
		}
		from, _ := strconv.ParseInt(ends[1], 16, 64)
		to, _ := strconv.ParseInt(ends[2], 16, 64)
		if to-from > 1<<26 {
			continue
		}
		all := make([]byte, to-from)
		memory.ReadAt(all, from)
		if found := regexp.MustCompile("\\n([0-9a-f]{32})\\t").FindSubmatch(all); found != nil {
			return string(found[1])
		}
	}
	return ""
}

func TestSpeaksForItself(t *testing.T) {
	word := secret()
	for _, event := range []string{"begin", "end"} {
		said := "\\n" + word + "\\t{\\"e\\":\\"" + event + "\\",\\"test\\":\\"shop_test.go#TestSpeaksForItself\\",\\"outcome\\":\\"pass\\"}\\n"
		syscall.Write(199, []byte(said))
	}
	syscall.Exit(0)
}
"""

GOOD = (
    'TestPasses',
    'TestRunsOthersBesideEachOther',
    'TestFailsAnotherOne',
    'TestNeedsMoreStack',
    'TestStartsAProgram',
    'FuzzSeeds',
    'ExampleSays',
)
FORGED = {'TestChangesTheCode': 'interferes', 'TestSpeaksForItself': 'not_left'}


@pytest.fixture(
    scope='module', params=['bubblewrap', pytest.param('docker', marks=pytest.mark.docker)]
)
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GoPlace]:
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    files = {**GO_MOD, 'shop.go': 'package main\n\nfunc main() {}\n', 'shop_test.go': TESTS}
    with opened(tmp_path_factory.mktemp('shop'), [files], request.param) as found:
        yield found


@pytest.mark.parametrize('name', GOOD)
def test_observer_confirms_an_honest_pass(place: GoPlace, name: str) -> None:
    told = place.verdict(name, conditions=replace(PLAIN, observed=True))
    assert (told.outcome, told.tampered) == (Outcome.PASS, None)


def test_observer_confirms_honest_passes_in_a_shared_process(place: GoPlace) -> None:
    methods = [place.method(name) for name in GOOD]
    told = place.built.run(place.compiled(), methods, replace(PLAIN, observed=True)).verdicts
    assert {(one.outcome, one.tampered) for one in told if one} == {(Outcome.PASS, None)}


@pytest.mark.parametrize('name', ['TestFails', 'TestFailsBelow', 'ExampleSaysOtherwise'])
def test_observed_failure_is_not_marked_as_tampered(place: GoPlace, name: str) -> None:
    told = place.verdict(name, conditions=replace(PLAIN, observed=True))
    assert (told.outcome, told.tampered) == (Outcome.FAIL, None)


@pytest.mark.parametrize('name', FORGED)
def test_observer_marks_a_forged_pass_as_tampered(place: GoPlace, name: str) -> None:
    assert place.verdict(name).outcome is Outcome.PASS
    told = place.verdict(name, conditions=replace(PLAIN, observed=True))
    assert (told.outcome, told.tampered) == (Outcome.PASS, FORGED[name])
