"""Modules that lack what lies in a submodule, which is not fetched."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from coevo.languages.cells import NEEDS_SUBMODULE
from tests.coevo.languages.python.shops import PROJECT, shop
from tests.repos import init, name_submodule

TESTS = 'import till\n\n\ndef test_price():\n    assert till.price == 1\n'


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ('submodule', 'code', 'trouble'),
    [
        ('till/bought', 'from till.bought.ring import price\n', NEEDS_SUBMODULE),
        ('bought', 'from bought.ring import price\n', NEEDS_SUBMODULE),
        ('docs/theme', 'from till.bought.ring import price\n', 'own_module_missing'),
        ('till/bought', 'from coevo_sells_nothing import price\n', 'import'),
        ('till/bought', 'price = 1\n', None),
    ],
)
def test_import_from_a_submodule_is_reported_as_needs_submodule(
    tmp_path: Path, submodule: str, code: str, trouble: str | None
) -> None:
    name_submodule(init(tmp_path / 'shop'), submodule)
    files = {'till/__init__.py': code, 'tests/test_till.py': TESTS}
    with shop(tmp_path, files, {'README': ''}) as place:
        for build in place.builds:
            said = build.find_trouble('.')
            assert (said and said.partition(':')[0]) == trouble
            assert build.runtime_lacking is None or trouble == 'import'


def test_symlink_into_a_submodule_is_reported_as_needs_submodule(tmp_path: Path) -> None:
    repo = init(tmp_path / 'shop')
    name_submodule(repo, 'bought')
    (repo / 'till').mkdir()
    (repo / 'till/ring.py').symlink_to('../bought/ring.py')
    files = {'till/__init__.py': 'from till.ring import price\n', 'tests/test_till.py': TESTS}
    with shop(tmp_path, files, {'README': ''}) as place:
        assert [build.find_trouble('.') for build in place.builds] == [NEEDS_SUBMODULE] * 2


@pytest.mark.slow
@pytest.mark.skipif(shutil.which('gcc') is None, reason='there is no compiler')
@pytest.mark.parametrize(('place', 'needs'), [('deps/ring', True), ('docs/theme', False)])
def test_extensions_need_the_submodule_that_setup_py_names(
    tmp_path: Path, place: str, needs: bool
) -> None:
    name_submodule(init(tmp_path / 'shop'), place)
    setup = (
        'from setuptools import Extension, setup\n'
        "ring = Extension('till._ring', ['./deps/ring/ring.c'], include_dirs=['deps/ring'])\n"
        "setup(name='till', version='1.0', packages=['till'], ext_modules=[ring])\n"
    )
    files = {
        'setup.py': setup,
        'till/__init__.py': 'from till._ring import price\n',
        'tests/test_till.py': TESTS,
    }
    with shop(tmp_path, files, {'README': ''}, PROJECT) as shown:
        for build in shown.builds:
            assert (build.find_trouble('.') == NEEDS_SUBMODULE) is needs
            assert build.find_trouble('.') is not None
