from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.evaluation.assignments import assignments
from tests import snapshots


@pytest.mark.parametrize(
    ('column', 'workaround'),
    [
        (None, None),
        ('source-level-8', None),
        ('byte-buddy', 'byte-buddy'),
        ('byte-buddy+source-level-8', 'byte-buddy'),
    ],
)
def test_only_a_cure_is_asked_of_the_runs(
    tmp_path: Path, column: str, workaround: str | None
) -> None:
    """A raised source level is the build's own doing, which it does again."""
    assignment, *_ = assignments(snapshots.make(tmp_path, 1))
    targets = tuple(
        replace(target, row=replace(target.row, override=column)) for target in assignment.targets
    )
    assert replace(assignment, targets=targets).override == workaround
    rows = tuple(target.row for target in targets)
    assert replace(assignment, targets=(), updates=rows).override == workaround
