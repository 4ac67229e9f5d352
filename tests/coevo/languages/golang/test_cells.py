"""Cells compiled one after the other: what was read of one is not taken for the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from tests.coevo.languages.golang.place import GO_MOD, opened

pytestmark = pytest.mark.skipif(not find_toolchains(), reason='there is no Go here')

OLD = 'package shop\n\nimport "math"\n\nvar Of = math.Abs\n'
NEW = 'package shop\n\nimport "path"\n\nvar Of = path.Dir\n'
TESTS = 'package shop\n\nimport "testing"\n\nfunc TestIsThere(t *testing.T) { _ = Of }\n'


def test_changed_import_in_a_file_of_the_same_size_is_noticed(tmp_path: Path) -> None:
    """The go command tells a file that it has read before by its name, size and date."""
    assert len(OLD) == len(NEW)
    steps = [{**GO_MOD, 'shop.go': OLD, 'shop_test.go': TESTS}, {'shop.go': NEW}]
    with opened(tmp_path, steps) as place:
        revs = (place.built.old.rev, place.built.new.rev)
        assert [place.built.old.failure, place.built.new.failure] == [None, None]
        cells = [place.compiled(code, code) for code in revs]
        assert [cell.unit_ok for cell in cells] == [True, True]
