"""Defects of all nine kinds in test files of Maven: each is what it is meant to be, by a run of its own."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coevo.model.families import Defect
from coevo.model.single_revision_rows import SingleRevisionRow
from tests import projects
from tests.flows.injected_files import injected_rows, names_by_kind

pytestmark = [pytest.mark.jvm, pytest.mark.slow]


def path_of(name: str) -> str:
    return f'src/test/java/shop/{name}Test.java'


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
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Defect, SingleRevisionRow]:
    folder = tmp_path_factory.mktemp('defects')
    step: dict[str, str | bytes | None] = {'pom.xml': projects.pom()}
    names = names_by_kind('Till', path_of)
    for name in names.values():
        step |= files(name)
    rows = injected_rows(folder, step)
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
def test_each_injected_defect_has_the_effect_of_its_kind(
    found: Mapping[Defect, SingleRevisionRow], kind: Defect
) -> None:
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
