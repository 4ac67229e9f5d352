"""The folders that a project's settings put on `sys.path`."""

from __future__ import annotations

from pathlib import Path

import pytest

from coevo.languages.python.layout import find_import_roots
from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, method, shop

PATHS = ('app/shop/__init__.py', 'app/shop/till.py', 'tests/test_till.py', 'setup.py')


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        ('pyproject.toml', '[tool.setuptools]\npackage-dir = {"" = "app"}\n'),
        ('pyproject.toml', '[tool.setuptools.packages.find]\nwhere = ["app"]\n'),
        ('pyproject.toml', '[tool.poetry]\npackages = [{include = "shop", from = "app"}]\n'),
        ('pyproject.toml', '[tool.hatch.build.targets.wheel]\npackages = ["app/shop"]\n'),
        ('pyproject.toml', '[tool.hatch.build]\nsources = ["app"]\n'),
        ('pyproject.toml', '[tool.hatch.build.targets.wheel.sources]\n"app" = ""\n'),
        ('pyproject.toml', '[tool.pdm.build]\npackage-dir = "app"\n'),
        ('pyproject.toml', '[tool.uv.build-backend]\nmodule-root = "app"\n'),
        ('pyproject.toml', '[tool.maturin]\npython-source = "app"\n'),
        ('pyproject.toml', '[tool.pytest.ini_options]\npythonpath = ["./app/"]\n'),
        ('pytest.ini', '[pytest]\npythonpath = . app\n'),
        ('setup.cfg', '[options]\npackage_dir =\n    = app\n'),
        ('setup.cfg', '[options.packages.find]\nwhere = app\n'),
        ('setup.py', "setup(package_dir={'': 'app'}, packages=['shop'])\n"),
        ('setup.py', 'setup(packages=find_packages("app"))\n'),
        ('setup.py', "setup(packages=find_packages(where='app', exclude=['tests']))\n"),
    ],
)
def test_folder_of_packages_that_settings_state_is_an_import_root(name: str, text: str) -> None:
    assert find_import_roots(PATHS, '.', {name: text.encode()}) == ('app', '.')
    below = [f'deep/{path}' for path in PATHS]
    assert find_import_roots(below, 'deep', {name: text.encode()}) == ('deep/app', 'deep')


@pytest.mark.parametrize(
    ('name', 'text'),
    [
        (
            'pyproject.toml',
            '[tool.setuptools.packages.find]\nwhere = [".", "..", "/app", "none"]\n',
        ),
        ('pyproject.toml', '[tool.setuptools.packages.find]\nwhere = ["app/shop"]\n'),
        ('pyproject.toml', '[tool]\nsetuptools = 1\npoetry = {packages = ["app"]}\nhatch = []\n'),
        ('pyproject.toml', '[tool.poetry]\npackages = [{include = "shop", from = 1}]\n'),
        ('pyproject.toml', 'tool = 3\n'),
        ('pyproject.toml', '[tool.setuptools\n'),
        ('setup.cfg', '[options\n'),
        ('setup.cfg', '[options]\npackage_dir\n[options.packages.find]\nwhere\n'),
        ('setup.py', "setup(package_dir={'shop': 'app'}, packages=find_packages())\n"),
    ],
)
def test_other_settings_state_no_import_root(name: str, text: str) -> None:
    assert find_import_roots(PATHS, '.', {name: text.encode()}) == ('.',)


@pytest.mark.slow
def test_tests_import_packages_from_the_folder_that_settings_state(tmp_path: Path) -> None:
    project = f'{PROJECT}\n[tool.setuptools.packages.find]\nwhere = ["python"]\n'
    test = 'from shop.till import price\n\n\ndef test_price():\n    assert price == {}\n'
    old = {
        'python/shop/__init__.py': '',
        'python/shop/till.py': 'price = 1\n',
        'tests/test_till.py': test.format(1),
    }
    new = {'python/shop/till.py': 'price = 2\n', 'tests/test_till.py': test.format(2)}
    with shop(tmp_path, old, new, project) as place:
        found = {
            code: place.verdict(method('test_price'), place.cell(place.new, code)).outcome
            for code in (place.old, place.new)
        }
        assert found == {place.old: Outcome.FAIL, place.new: Outcome.PASS}
