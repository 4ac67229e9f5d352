"""Defects of all kinds in test files of Python: each is what it is meant to be, by a run of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import count

import pytest

from coevo.model.families import Defect
from coevo.model.families import Family
from coevo.model.profiles import FileRules
from coevo.model.standing_rows import StandingRow
from coevo.model.words import Walk
from coevo.storage.store import Store
from flows.standing.injected import kinds
from tests import projects
from tests.coevo.languages.python.shops import PROJECT
from tests.projects import QUICK

pytestmark = pytest.mark.slow

CODE = """\
class Till:
    def __init__(self, each):
        self.each = each

    def price(self, count):
        total = count * self.each
        return total

    def tax(self):
        rate = 5
        return rate
"""
TESTS = """\
from {module} import Till


def test_price():
    till = Till(3)
    total = till.price(2)
    assert total == 6


def test_tax():
    till = Till(3)
    assert till.tax() == 5
"""
PLACED = tuple(kind for kind in Defect if kind is not Defect.DUPLICATE_ENTITY)


def path_of(module: str) -> str:
    return f'tests/test_{module}.py'


def module_for(kind: Defect) -> str:
    """Of which the test file draws a kind first."""
    names = (f'till{number}' for number in count())
    return next(name for name in names if kinds(path_of(name))[0] is kind)


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Defect, StandingRow]:
    folder = tmp_path_factory.mktemp('defects')
    step: dict[str, str | bytes | None] = {'pyproject.toml': PROJECT, 'LICENSE': 'MIT License\n'}
    modules = {kind: module_for(kind) for kind in Defect}
    for module in modules.values():
        step |= {f'{module}.py': CODE, path_of(module): TESTS.format(module=module)}
    mined = projects.mined(
        projects.write(folder / 'repository', [step]),
        folder / 'store',
        walk=Walk.STANDING,
        profile=replace(
            QUICK,
            traces=True,
            measure_runs=5,
            files=FileRules(least_lines=1, least_function=1),
        ),
        families=(Family.FILE,),
    )
    segments = Store(mined.store).segments(mined.report.partitions[0])
    rows = {
        row.test_file: row
        for segment in segments
        for row in segment.standing
        if row.start_builder == 'injected'
    }
    return {kind: rows[path_of(module)] for kind, module in modules.items()}


# Tests that pass at the start, of the two of gold.
PASSING = {
    Defect.MISSED_ASSERTS: 2,
    Defect.NO_NEW_COVERED_LOGIC: 2,
    Defect.UNDEFINED_ENTITY: 1,
    Defect.INVALID_CALL: 1,
    Defect.MISSED_DEPENDENCIES: 0,
    Defect.INVALID_CONSTRUCTOR: 1,
    Defect.RUNTIME_ERRORS: 1,
    Defect.SYNTAX_ERROR: 0,
}


@pytest.mark.parametrize('kind', PLACED)
def test_a_defect_shows_as_its_kind_says(found: Mapping[Defect, StandingRow], kind: Defect) -> None:
    row = found[kind]
    assert row.defect is kind
    assert row.start_patch
    assert row.start_adequacy is not None
    assert row.adequacy is not None
    assert row.start_adequacy.passing == PASSING[kind]
    assert row.start_adequacy.killed is not None
    assert row.adequacy.killed is not None
    assert row.start_adequacy.killed <= row.adequacy.killed


def test_a_test_that_is_declared_twice_is_no_defect_of_python(
    found: Mapping[Defect, StandingRow],
) -> None:
    """The next kind by lot is put in instead."""
    row = found[Defect.DUPLICATE_ENTITY]
    assert row.defect is kinds(row.test_file)[1]
