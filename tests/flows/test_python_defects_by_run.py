"""Defects of all kinds in test files of Python: each is what it is meant to be, by a run of its own."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coevo.model.families import Defect
from coevo.model.single_revision_rows import SingleRevisionRow
from flows.single_revision.starts import order_defects
from tests.coevo.languages.python.shops import PROJECT
from tests.flows.injected_files import check_effect, injected_rows, names_by_kind

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


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Defect, SingleRevisionRow]:
    folder = tmp_path_factory.mktemp('defects')
    step: dict[str, str | bytes | None] = {'pyproject.toml': PROJECT, 'LICENSE': 'MIT License\n'}
    modules = names_by_kind('till', path_of)
    for module in modules.values():
        step |= {f'{module}.py': CODE, path_of(module): TESTS.format(module=module)}
    rows = injected_rows(folder, step)
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
def test_each_injected_defect_has_the_effect_of_its_kind(
    found: Mapping[Defect, SingleRevisionRow], kind: Defect
) -> None:
    check_effect(found[kind], kind, PASSING[kind])


def test_a_test_declared_twice_is_replaced_by_the_next_kind_in_python(
    found: Mapping[Defect, SingleRevisionRow],
) -> None:
    """The next kind by lot is put in instead."""
    row = found[Defect.DUPLICATE_ENTITY]
    assert row.defect is order_defects(row.test_file)[1]
