"""Rows of the label sets: what a classifier may see of a test and of the change, both labels, and its weight.

The new text of the test is no part of it: who sees that sees the answer of the static label.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coevo.model.words import Walk
from coevo.snapshots import snapshot
from coevo.snapshots.identification import IdentificationStudy, build_identification_table

_SQL = """\
SELECT method_id, family, language, old_source AS test, dependencies, static, dynamic, weight
FROM identification WHERE left_out IS NULL ORDER BY method_id"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledTest:
    """A test before a change.

    family          repositories that share commits are one
    test            its old text
    change          a line for each changed declaration that it depends on: what was done to it, then its text
    static, dynamic whether it is positive
    weight          how many tests it stands for
    """

    method_id: str
    family: str
    test: str
    change: tuple[str, ...]
    static: bool
    dynamic: bool
    weight: float = 1.0

    def label(self, labelling: str) -> bool:
        """labelling  static or dynamic"""
        return self.static if labelling == 'static' else self.dynamic


def read_rows(path: Path, walk: Walk = Walk.PARENTS) -> tuple[LabelledTest, ...]:
    """Those of a snapshot, of all languages. Where the weight is unknown it is 1."""
    with snapshot.translate_read_errors((path,)):
        connection = build_identification_table(
            snapshot.attach_snapshots((path,)), IdentificationStudy(walk=walk)
        )
    found = connection.execute(_SQL)
    names = [column[0] for column in found.description or ()]
    return tuple(_row(dict(zip(names, row, strict=True))) for row in found.fetchall())


def _row(raw: Mapping[str, Any]) -> LabelledTest:
    return LabelledTest(
        method_id=raw['method_id'],
        family=raw['family'],
        test=raw['test'] or '',
        change=tuple(f'{one["revised"]} {one["declaration"]}' for one in raw['dependencies']),
        static=raw['static'] == 'positive',
        dynamic=raw['dynamic'] == 'positive',
        weight=raw['weight'] or 1.0,
    )
