"""Defects of all kinds in test files of Go: a run shows that each has the effect of its kind."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from coevo.model.families import Defect
from coevo.model.single_revision_rows import SingleRevisionRow
from tests.coevo.languages.golang.place import GO_MOD
from tests.flows.injected_files import check_effect, injected_rows, names_by_kind

pytestmark = pytest.mark.slow

CODE = """\
package {package}

type Till struct {{
	each int
}}

func NewTill(each int) *Till {{
	return &Till{{each: each}}
}}

func (till *Till) Price(count int) int {{
	total := count * till.each
	return total
}}

func (till *Till) Tax() int {{
	rate := 5
	return rate
}}
"""
TESTS = """\
package {package}

import "testing"

func TestPrice(t *testing.T) {{
	till := NewTill(3)
	total := till.Price(2)
	if total != 6 {{
		t.Error(total)
	}}
}}

func TestTax(t *testing.T) {{
	till := NewTill(3)
	if till.Tax() != 5 {{
		t.Error("not 5")
	}}
}}
"""


def path_of(package: str) -> str:
    return f'{package}/till_test.go'


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Defect, SingleRevisionRow]:
    step: dict[str, str | bytes | None] = {**GO_MOD, 'LICENSE': 'MIT License\n'}
    packages = names_by_kind('till', path_of)
    for package in packages.values():
        step |= {
            f'{package}/till.go': CODE.format(package=package),
            path_of(package): TESTS.format(package=package),
        }
    rows = injected_rows(tmp_path_factory.mktemp('defects'), step)
    return {kind: rows[path_of(package)] for kind, package in packages.items()}


# Tests that pass at the start, of the two of gold. A test that does not compile is left out of its
# file, so that the other one still runs; a panic ends the process with both.
PASSING = {
    Defect.MISSED_ASSERTS: 2,
    Defect.NO_NEW_COVERED_LOGIC: 2,
    Defect.UNDEFINED_ENTITY: 1,
    Defect.INVALID_CALL: 1,
    Defect.MISSED_DEPENDENCIES: 0,
    Defect.INVALID_CONSTRUCTOR: 1,
    Defect.RUNTIME_ERRORS: 0,
    Defect.DUPLICATE_ENTITY: 1,
    Defect.SYNTAX_ERROR: 0,
}


@pytest.mark.parametrize('kind', [*Defect])
def test_each_injected_defect_has_the_effect_of_its_kind(
    found: Mapping[Defect, SingleRevisionRow], kind: Defect
) -> None:
    check_effect(found[kind], kind, PASSING[kind])
