"""Defects of all nine kinds in test files of Maven: each is what it is meant to be, by a run of its own."""

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
from tests.projects import QUICK

pytestmark = [pytest.mark.jvm, pytest.mark.slow]

RULES = FileRules(least_lines=1, least_function=1)


def path_of(name: str) -> str:
    return f'src/test/java/shop/{name}Test.java'


def name_for(kind: Defect) -> str:
    """Of a class whose test file draws a kind first."""
    names = (f'Till{number}' for number in count())
    return next(name for name in names if kinds(path_of(name))[0] is kind)


def files(name: str) -> Mapping[str, str]:
    body = (
        '    int price() {\n        return 3;\n    }\n\n    int tax() {\n        return 5;\n    }\n'
    )
    tests = (
        f'pays: {name} it = new {name}();\n        assertEquals(3, it.price());',
        f'taxes: {name} it = new {name}();\n        assertEquals(5, it.tax());',
    )
    return {**projects.source(name, body), **projects.junit(f'{name}Test', *tests)}


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Defect, StandingRow]:
    folder = tmp_path_factory.mktemp('defects')
    step: dict[str, str | bytes | None] = {'pom.xml': projects.pom()}
    names = {kind: name_for(kind) for kind in Defect}
    for name in names.values():
        step |= files(name)
    repository = projects.write(folder / 'repository', [step])
    mined = projects.mined(
        repository,
        folder / 'store',
        walk=Walk.STANDING,
        profile=replace(QUICK, traces=True, measure_runs=5, files=RULES),
        families=(Family.FILE,),
    )
    segments = Store(mined.store).segments(mined.report.partitions[0])
    rows = {
        row.test_file: row
        for segment in segments
        for row in segment.standing
        if row.start_builder == 'injected'
    }
    return {kind: rows[path_of(name)] for kind, name in names.items()}


# Tests that pass at the start, of the two of gold.
PASSING = {
    Defect.MISSED_ASSERTS: 2,
    Defect.NO_NEW_COVERED_LOGIC: 2,
    Defect.UNDEFINED_ENTITY: 1,
    Defect.INVALID_CALL: 1,
    Defect.INVALID_CONSTRUCTOR: 1,
    Defect.RUNTIME_ERRORS: 1,
}


@pytest.mark.parametrize('kind', Defect)
def test_a_defect_shows_as_its_kind_says(found: Mapping[Defect, StandingRow], kind: Defect) -> None:
    row = found[kind]
    assert row.defect is kind
    assert row.start_patch
    assert row.start_adequacy is not None
    assert row.adequacy is not None
    if kind in PASSING:
        assert row.start_adequacy.passing == PASSING[kind]
    assert row.start_adequacy.covered_lines is not None
    assert row.adequacy.covered_lines is not None
    if kind is Defect.MISSED_ASSERTS:
        assert row.start_adequacy.covered_lines <= row.adequacy.covered_lines
    else:
        assert row.start_adequacy.covered_lines < row.adequacy.covered_lines
