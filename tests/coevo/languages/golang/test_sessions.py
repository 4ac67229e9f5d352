"""Tests of one binary in one sandbox: each finds what the first one found, and takes nobody along."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coevo.languages.cells import CellEdits
from coevo.languages.golang.toolchains import find_toolchains
from coevo.languages.verdicts import RunConditions
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, GoPlace, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

TESTS = """\
package shop

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestSaysWhereItIs(t *testing.T) {
	// The number of a name space is given again once it is gone: its first process has begun at a time of its own.
	where, _ := os.Readlink("/proc/self/ns/pid")
	first, _ := os.ReadFile("/proc/1/stat")
	fields := strings.Fields(string(first[strings.LastIndexByte(string(first), ')')+1:]))
	t.Fatal(where, fields[19])
}

func TestFindsNothing(t *testing.T) {
	for _, place := range []string{"/tmp/left", "/tmp/home/left", "/dev/shm/left", "left"} {
		if _, err := os.Lstat(place); err == nil {
			t.Error(place)
		}
	}
	if content, _ := os.ReadFile("shop.go"); string(content) != "package shop\\n" {
		t.Errorf("%q", content)
	}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		line, _ := os.ReadFile("/proc/" + entry.Name() + "/cmdline")
		if strings.HasPrefix(string(line), "sleep") {
			t.Error(string(line))
		}
	}
}

func TestLeavesFiles(t *testing.T) {
	for _, place := range []string{"/tmp/left", "/tmp/home/left", "/dev/shm/left", "left"} {
		if err := os.WriteFile(place, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestChangesTheTree(t *testing.T) {
	if err := os.WriteFile("shop.go", []byte("package ship\\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestClosesAFolder(t *testing.T) {
	os.Mkdir("/tmp/closed", 0o755)
	os.WriteFile("/tmp/closed/left", nil, 0o600)
	os.Chmod("/tmp/closed", 0)
}

func TestLeavesAProcess(t *testing.T) {
	if err := exec.Command("sleep", "1000").Start(); err != nil {
		t.Fatal(err)
	}
}

func TestListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go net.Dial("tcp", listener.Addr().String())
	listener.Accept()
}

func TestSpins(t *testing.T) {
	for began := time.Now(); time.Since(began) < time.Minute; {
	}
}
"""

SHOP = {'shop.go': 'package shop\n'}


@pytest.fixture(scope='module')
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoPlace]:
    files = {**GO_MOD, **SHOP, 'shop_test.go': TESTS}
    with opened(tmp_path_factory.mktemp('sessions'), [files]) as found:
        yield found


def test_go_test_runs_share_a_sandbox_unless_a_file_is_edited(place: GoPlace) -> None:
    edits = CellEdits(tests=(('shop_test.go', TESTS.encode()),))
    apart = place.compiled(edits=edits)
    first, second = (place.verdict('TestSaysWhereItIs').message for _ in range(2))
    third, fourth = (place.verdict('TestSaysWhereItIs', apart).message for _ in range(2))
    assert first == second
    assert len({first, third, fourth}) == 3


@pytest.mark.parametrize(
    'name',
    ['LeavesFiles', 'ChangesTheTree', 'ClosesAFolder', 'LeavesAProcess', 'Listens'],
)
def test_leftovers_of_a_test_are_hidden_from_the_next(place: GoPlace, name: str) -> None:
    assert place.verdict(f'Test{name}').outcome is Outcome.PASS
    found = place.verdict('TestFindsNothing')
    assert found.outcome is Outcome.PASS, found.message


def test_go_test_beyond_its_cpu_limit_is_killed_without_harm_to_the_next(place: GoPlace) -> None:
    late = place.verdict('TestSpins', conditions=RunConditions(cpu_limit=0.5))
    assert (late.outcome, late.signature) == (Outcome.TIMEOUT, 'time')
    assert place.verdict('TestFindsNothing').outcome is Outcome.PASS
