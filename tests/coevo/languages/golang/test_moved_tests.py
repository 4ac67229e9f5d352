"""Tasks of Go tests that move to another file of their package while they change."""

from __future__ import annotations

import pytest

from coevo.languages.golang.toolchains import find_toolchains
from tests import projects
from tests.coevo.languages.golang.histories import LICENCE, till
from tests.coevo.languages.golang.place import GO_MOD
from tests.projects import Mined, write

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not find_toolchains(), reason='there is no Go here'),
]

HEAD = 'package shop\n\nimport "testing"\n'
HELPER = (
    '\nfunc check(t *testing.T, want int) {\n\tif Price() != want {\n\t\tt.Fatal(Price())\n\t}\n}\n'
)
STAYS = '\nfunc TestStays(t *testing.T) { check(t, Price()) }\n'
BESIDE = '\nfunc TestBeside(t *testing.T) { _ = Price() }\n'


def text_of(name: str, price: int) -> str:
    return f'\nfunc Test{name}(t *testing.T) {{\n\tgot := Price()\n\tcheck(t, {price})\n\tt.Log("sold for", got, {price})\n}}\n'


@pytest.fixture(scope='module')
def found(tmp_path_factory: pytest.TempPathFactory) -> Mined:
    """One test moves to a file that was there, another to a new file, with a test that stays as it is."""
    folder = tmp_path_factory.mktemp('moved')
    old = {
        'a_test.go': HEAD + HELPER + text_of('Moves', 1) + text_of('Splits', 1) + STAYS + BESIDE,
        'b_test.go': HEAD + text_of('There', 1),
    }
    new = {
        'a_test.go': HEAD + HELPER + STAYS,
        'b_test.go': HEAD + text_of('There', 2) + text_of('Moves', 2),
        'c_test.go': HEAD + text_of('Splits', 2) + BESIDE,
    }
    steps = ({**GO_MOD, 'LICENSE': LICENCE, **till(1), **old}, {**till(2), **new})
    return projects.mined(write(folder / 'repository', steps), folder / 'store')


@pytest.mark.parametrize('name', ['Moves', 'Splits', 'There'])
def test_changed_test_that_moves_within_its_package_is_an_update(found: Mined, name: str) -> None:
    (row,) = (row for row in found.methods if row.test_method == f'Test{name}')
    assert (str(row.label), str(row.track)) == ('update', 'update'), row.isolated
