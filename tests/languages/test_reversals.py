"""Changes of Python and Go that are undone one by one, in pairs that are mined."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from coevo.model.quality import ReversalStatus
from coevo.storage.measures import load_measured_segments
from coevo.storage.store import Store
from tests.coevo.languages.golang.place import GO_MOD
from tests.coevo.languages.python.shops import PROJECT
from tests.projects import MEASURED, mined, write

Tree = Mapping[str, str | bytes | None]

PYTHON_OLD = 'import math\n\nRATE = 1\n\n\ndef price():\n    return math.floor(RATE)\n'
PYTHON_NEW = """\
RATE = 2


def price():
    log()
    return RATE + step()


def step():
    return 3


def log():
    pass
"""
PYTHON_TEST = 'import till\n\n\ndef test_price():\n    assert till.price() == %d\n'
GO_OLD = """\
package till

import "math"

var rate = 1.0

func Price() float64 { return math.Floor(rate) }
"""
GO_NEW = """\
package till

var rate = 2.0

func Price() float64 {
	log()
	return rate + step()
}

func step() float64 { return 3 }

func log() {}
"""
GO_TEST = """\
package till

import "testing"

func TestPrice(t *testing.T) {
	if Price() != %d {
		t.Fatal(Price())
	}
}
"""


def undone(folder: Path, *steps: Tree) -> dict[str, ReversalStatus]:
    """By the first line of each declaration."""
    repository = write(folder / 'repository', list(steps))
    found = mined(repository, folder / 'store', profile=MEASURED)
    store = Store(folder / 'store')
    rows = [
        row
        for part in found.report.partitions
        for segment in load_measured_segments(store, part)
        for row in segment.reversals
    ]
    return {row.declaration.partition('\n')[0]: row.status for row in rows}


def test_each_changed_python_declaration_is_undone_on_its_own(tmp_path: Path) -> None:
    first = {
        'pyproject.toml': PROJECT,
        'till.py': PYTHON_OLD,
        'tests/test_till.py': PYTHON_TEST % 1,
    }
    second = {'till.py': PYTHON_NEW, 'tests/test_till.py': PYTHON_TEST % 5}

    found = undone(tmp_path, first, second)

    assert found == {
        'def price()': ReversalStatus.DETECTED,
        'RATE': ReversalStatus.DETECTED,
        # what was inserted stays, since a missing name would be noticed by any call
        'def step(): return 0': ReversalStatus.DETECTED,
        'def step(): return 1': ReversalStatus.DETECTED,
        'def log(): return None': ReversalStatus.UNDETECTED,
    }


@pytest.mark.slow
@pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')
def test_each_changed_go_declaration_is_undone_on_its_own(tmp_path: Path) -> None:
    first = {**GO_MOD, 'till.go': GO_OLD, 'till_test.go': GO_TEST % 1}
    second = {'till.go': GO_NEW, 'till_test.go': GO_TEST % 5}

    found = undone(tmp_path, first, second)

    assert found == {
        'func Price() float64': ReversalStatus.DETECTED,
        'func step() float64 { return 0 }': ReversalStatus.DETECTED,
        'func step() float64 { return 1 }': ReversalStatus.DETECTED,
        'func log() { }': ReversalStatus.UNDETECTED,
        'var rate': ReversalStatus.DETECTED,
    }
