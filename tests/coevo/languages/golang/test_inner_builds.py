"""Tests that run the go command find the standard library compiled, and leave nothing to later runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.words import Outcome
from tests.coevo.languages.golang.place import GO_MOD, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

TOOL = 'package main\n\nimport "fmt"\n\nfunc main() { fmt.Println("sold") }\n'
TEST = """\
package shop

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func TestBuilds(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "tool")
	if said, err := exec.Command("go", "build", "-o", tool, "./tool").CombinedOutput(); err != nil {
		t.Fatal(err, string(said))
	}
	if said, err := exec.Command(tool).Output(); err != nil || string(said) != "sold\\n" {
		t.Fatal(err, string(said))
	}
}

func TestFindsACacheThatNobodyWroteTo(t *testing.T) {
	mark := filepath.Join(os.Getenv("GOCACHE"), "mark")
	if _, err := os.Stat(mark); err == nil {
		t.Fatal("an earlier run was here")
	}
	if err := os.WriteFile(mark, nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCannotChangeWhatIsShared(t *testing.T) {
	found, err := filepath.Glob(os.Getenv("GOCACHE") + "/*/*-d")
	if err != nil || len(found) == 0 {
		t.Fatal("there is no cache")
	}
	if err := os.WriteFile(found[0], []byte("forged"), 0o644); err == nil {
		t.Fatal("a compiled package was written over")
	}
}
"""
# An empty cache costs twenty times as much.
MOST_CPU_SECONDS = 6.0


def test_go_build_within_a_test_uses_compiled_packages_that_it_cannot_change(
    tmp_path: Path,
) -> None:
    files = {**GO_MOD, 'shop.go': 'package shop\n', 'shop_test.go': TEST, 'tool/main.go': TOOL}
    with opened(tmp_path, [files]) as place:
        cell = place.compiled()
        batch = place.built.run(cell, [place.method('TestBuilds')])
        assert batch.verdicts[0] is not None
        assert batch.verdicts[0].outcome is Outcome.PASS, batch.verdicts[0]
        assert batch.cpu_seconds < MOST_CPU_SECONDS
        for name in (*['TestFindsACacheThatNobodyWroteTo'] * 2, 'TestCannotChangeWhatIsShared'):
            found = place.verdict(name, cell)
            assert found.outcome is Outcome.PASS, found
