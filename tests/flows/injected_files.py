"""Test files that are mined for the defects that are put into them, one of each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path

from coevo.model.families import Defect, Family
from coevo.model.profiles import FileRules
from coevo.model.single_revision_rows import SingleRevisionRow
from coevo.model.words import Walk
from coevo.storage.store import Store
from flows.single_revision.starts import order_defects
from tests import projects
from tests.projects import QUICK

RULES = FileRules(least_lines=1, least_function=1)


def names_by_kind(stem: str, path_of: Callable[[str], str]) -> Mapping[Defect, str]:
    """For each kind a name whose test file draws it first."""

    def first(kind: Defect) -> str:
        names = (f'{stem}{number}' for number in count())
        return next(name for name in names if order_defects(path_of(name))[0] is kind)

    return {kind: first(kind) for kind in Defect}


def injected_rows(
    folder: Path, step: Mapping[str, str | bytes | None]
) -> dict[str, SingleRevisionRow]:
    """What became of each test file of a repository of one commit, by its path."""
    mined = projects.mined(
        projects.write(folder / 'repository', [step]),
        folder / 'store',
        walk=Walk.SINGLE_REVISION,
        profile=replace(QUICK, traces=True, measure_runs=5, files=RULES),
        families=(Family.FILE,),
    )
    segments = Store(mined.store).load_current_segments(mined.report.partitions[0])
    return {
        row.test_file: row
        for segment in segments
        for row in segment.single_revision
        if row.start_builder == 'injected'
    }


def check_effect(row: SingleRevisionRow, kind: Defect, passing: int) -> None:
    """The defect is in, so many tests pass, and the start kills no more than gold."""
    assert row.defect is kind
    assert row.start_patch
    assert row.start_adequacy is not None
    assert row.adequacy is not None
    assert row.start_adequacy.passing == passing
    assert row.start_adequacy.killed is not None
    assert row.adequacy.killed is not None
    assert row.start_adequacy.killed <= row.adequacy.killed
