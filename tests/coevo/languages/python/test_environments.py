"""Requirements made exact at a date, and what cures those that cannot be, with the real index."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.python.interpreters import find_interpreters
from coevo.languages.python.requirements.stated import Needs
from coevo.languages.python.resolution import LockedRequirements, resolve_requirements
from coevo.languages.python.supply import PythonSupply
from coevo.model.words import Outcome
from coevo.sandboxes.sandbox import Sandbox
from tests.coevo.languages.python.shops import PROJECT, Shop, method, shop

TESTS = """\
    from importlib.metadata import entry_points
    from importlib.metadata import version
    import subprocess
    import sys

    import pytest


    def test_metadata():
        assert version('till') == '1.0'
        assert [one.value for one in entry_points(group='shop')] == ['till:price']


    def test_another_process():
        text = 'import pytest, till; print(till.price)'
        assert subprocess.check_output([sys.executable, '-c', text]) == b'1\\n'


    def test_docopt():
        import docopt
        assert docopt.__version__ == '0.6.2'
"""


def needing(*lines: str) -> str:
    listed = ', '.join(f'"{line}"' for line in lines)
    return f"""{PROJECT}[project.optional-dependencies]
tests = [{listed}]
[project.entry-points.shop]
price = "till:price"
"""


def names(place: Shop) -> dict[str, str]:
    found = place.built.describe_environment(place.new, '.')
    assert found is not None
    return dict(entry.coordinates.split('==') for entry in found.libraries)


FILES = {'till.py': 'price = 1\n', 'tests/test_till.py': TESTS}


def test_versions_are_resolved_at_the_date_of_the_new_revision(tmp_path: Path) -> None:
    with shop(tmp_path, FILES, {'README': ''}, needing('freezegun')) as place:
        found = names(place)
        assert (found['pytest'], found['freezegun']) == ('8.0.2', '1.4.0')
        assert place.builds[1].overrides == ()
        for name in ('test_metadata', 'test_another_process'):
            assert place.verdict(method(name)).outcome is Outcome.PASS


@pytest.mark.slow
def test_a_package_without_a_wheel_is_built_in_the_sandbox(tmp_path: Path) -> None:
    with shop(tmp_path, FILES, {'README': ''}, needing('docopt<1')) as place:
        assert place.builds[1].overrides == ('built-docopt',)
        assert place.verdict(method('test_docopt')).outcome is Outcome.PASS


@pytest.mark.slow
def test_loosening_a_too_old_pytest_pin_keeps_the_other_pins(tmp_path: Path) -> None:
    project = needing('pytest==2.9.2', 'freezegun==1.2.0')
    with shop(tmp_path, FILES, {'README': ''}, project) as place:
        found = names(place)
        assert (found['pytest'], found['freezegun']) == ('8.0.2', '1.2.0')
        assert place.builds[1].overrides == ('loosened-pytest',)


@pytest.mark.slow
def test_later_date_is_tried_before_a_requirement_is_left_out(sandbox: Sandbox) -> None:
    """docopt has no wheel: with a pytest that is let go alone it would have to be left out at once."""
    day = datetime(2024, 3, 1, tzinfo=UTC)
    needs = Needs(tests=('docopt==0.6.2', 'pytest==2.9.2'))
    interpreter = next(one for one in find_interpreters() if one.feature == sys.version_info[:2])
    found = resolve_requirements(needs, interpreter, day, lambda *_: 'needs_compiler', sandbox)
    assert isinstance(found, LockedRequirements)
    assert found.workarounds == ('a-year-later', 'loosened', 'without-docopt')


@pytest.mark.slow
def test_unknown_test_requirement_is_left_out(tmp_path: Path) -> None:
    project = needing('coevo-has-no-such-package', 'pytest==2.9.2', 'six')
    with shop(tmp_path, FILES, {'README': ''}, project) as place:
        assert 'without-coevo-has-no-such-package' in place.builds[1].overrides
        assert {'six', 'pytest'} <= names(place).keys()


def test_missing_version_1_503_is_not_mistaken_for_a_server_error(tmp_path: Path) -> None:
    project = f'{PROJECT}dependencies = ["six==1.503"]\n'
    with shop(tmp_path, FILES, {'README': ''}, project) as place:
        assert [build.find_trouble('.') for build in place.builds] == ['requirements:six'] * 2


@pytest.mark.slow
def test_projects_of_the_repository_are_not_installed_from_the_index(tmp_path: Path) -> None:
    files = {
        **FILES,
        'tests/test_till.py': 'import docopt\n\n\ndef test_own():\n    assert docopt.own == 1\n',
        'stock/pyproject.toml': '[project]\nname = "docopt"\ndependencies = ["six"]\n',
        'stock/src/docopt.py': 'import six\n\nown = 1\n',
    }
    project = PROJECT + 'dependencies = ["docopt>=0.6"]\n'
    with shop(tmp_path, files, {'README': ''}, project) as place:
        found = names(place)
        assert 'six' in found
        assert 'docopt' not in found
        assert place.verdict(method('test_own')).outcome is Outcome.PASS


@pytest.mark.slow
def test_broken_example_project_does_not_break_tests_of_other_projects(tmp_path: Path) -> None:
    own = 'import till\n\n\ndef test_price():\n    assert till.price == 1\n'
    other = 'import demo_has_no_such_module\n\n\ndef test_demo():\n    pass\n'
    files = {
        'till.py': 'price = 1\n',
        'tests/test_till.py': own,
        'examples/demo/pyproject.toml': '[project]\nname = "demo"\n',
        'examples/demo/tests/test_demo.py': other,
    }
    with shop(tmp_path, files, {'README': ''}) as place:
        cell = place.cell(place.new, place.new)
        assert (cell.unit_ok, cell.broken) == (True, ())
        assert place.verdict(method('test_price')).outcome is Outcome.PASS
        test = method('test_demo', file='examples/demo/tests/test_demo.py')
        assert place.verdict(test, cell).outcome is Outcome.COMPILE_ERROR
        # The miners call the folder of each project a module.
        assert [build.find_trouble('examples/demo') for build in place.builds] == [None, None]
        example = place.built.compile(place.new, place.new, 'examples/demo')
        assert place.verdict(replace(test, module='examples/demo'), example) == place.verdict(test)


@pytest.mark.slow
def test_project_that_only_the_new_revision_has_is_run_on_the_old_code_too(tmp_path: Path) -> None:
    tests = 'import goods\n\n\ndef test_stock():\n    assert goods.count == 1\n'
    new = {
        'stock/pyproject.toml': '[project]\nname = "stock"\n',
        'stock/goods.py': 'count = 1\n',
        'stock/tests/test_stock.py': tests,
    }
    with shop(tmp_path, FILES, new) as place:
        test = replace(method('test_stock', file='stock/tests/test_stock.py'), module='stock')
        found = {}
        for code in (place.old, place.new):
            cell = place.built.compile(place.new, code, 'stock')
            found[code] = place.verdict(test, cell).outcome
        assert found == {place.old: Outcome.COMPILE_ERROR, place.new: Outcome.PASS}


@pytest.mark.slow
def test_revision_with_an_unknown_requirement_is_not_built(tmp_path: Path) -> None:
    absent = PROJECT + 'dependencies = ["coevo-has-no-such-package"]\n'
    with shop(tmp_path, FILES, {'pyproject.toml': PROJECT}, absent) as place:
        old, new = place.builds
        assert old.find_trouble('.') == 'requirements:coevo-has-no-such-package'
        assert new.find_trouble('.') is None
        assert place.verdict(method('test_another_process')).outcome is Outcome.PASS


def test_missing_interpreter_is_reported(tmp_path: Path) -> None:
    project = PROJECT.replace('>=3.11,<3.12', '>=3.14')
    with shop(tmp_path, FILES, {'README': ''}, project) as place:
        if not place.builds[1].runtime:
            assert {build.runtime_lacking for build in place.builds} == {'3.14'}
            assert place.builds[1].find_trouble('.') == 'runtime_missing'


@pytest.mark.parametrize(
    ('line', 'lacking'),
    [
        ('coevo-has-no-such-package>=3', None),
        ("coevo-has-no-such-package; python_version<'3.12'", '3.12'),
    ],
)
def test_interpreter_that_is_not_here_is_no_reason_where_none_would_help(
    line: str, lacking: str | None, tmp_path: Path
) -> None:
    only = PythonSupply()
    only.known = tuple(one for one in find_interpreters() if one.feature == (3, 11))
    project = PROJECT.replace('<3.12', '<3.13') + f'dependencies = ["{line}"]\n'
    with shop(tmp_path, FILES, {'README': ''}, project, runtimes=only) as place:
        for build in place.builds:
            assert build.find_trouble('.') == 'requirements:coevo-has-no-such-package'
            assert build.runtime_lacking == lacking


@pytest.mark.slow
def test_next_interpreter_is_tried_if_the_code_does_not_load(tmp_path: Path) -> None:
    """`async` became a word of the language in 3.7: what only 3.10 loads stands for it here."""
    if (3, 10) not in {one.feature for one in find_interpreters()}:
        pytest.skip('there is no Python 3.10 here')
    code = 'import sys\nassert sys.version_info[:2] == (3, 10)\nprice = 1\n'
    project = PROJECT.replace('>=3.11,<3.12', '>=3.10,<3.12')
    tests = 'import till\n\n\ndef test_price():\n    assert till.price == 1\n'
    files = {'till.py': code, 'tests/test_till.py': tests}
    with shop(tmp_path, files, {'README': ''}, project) as place:
        for build in place.builds:
            assert [one[:4] for one in build.runtimes_tried] == ['3.11', '3.10']
            assert build.runtime.startswith('3.10.')
        assert place.verdict(method('test_price')).outcome is Outcome.PASS


@pytest.mark.slow
def test_syntax_error_on_a_later_interpreter_tries_no_newer_interpreter(
    tmp_path: Path,
) -> None:
    if (3, 13) not in {one.feature for one in find_interpreters()}:
        pytest.skip('there is no Python 3.13 here, which came half a year after these commits')
    project = PROJECT.replace('>=3.11,<3.12', '>=3.13')
    files = {'till.py': 'print "till"\n', 'tests/test_till.py': 'import till\n'}
    with shop(tmp_path, files, {'README': ''}, project) as place:
        for build in place.builds:
            assert build.find_trouble('.') == 'import:SyntaxError@till.py:<module>'
            assert [one[:4] for one in build.runtimes_tried] == ['3.13']
            assert build.runtime_lacking is None


SETUP = """\
from setuptools import Extension, setup

setup(
    name='till',
    version='1.0',
    packages=['till'],
    ext_modules=[Extension('till._price', ['src/price.c']), Extension('till.plain', ['src/plain.c'])],
)
"""
MODULE = """\
#include <Python.h>

static PyObject *price(PyObject *self, PyObject *ignored) {{ return PyLong_FromLong({price}); }}
static PyMethodDef methods[] = {{{{"price", price, METH_NOARGS, 0}}, {{0, 0, 0, 0}}}};
static PyModuleDef module = {{PyModuleDef_HEAD_INIT, "{name}", 0, -1, methods}};
PyMODINIT_FUNC PyInit_{name}(void) {{ return PyModule_Create(&module); }}
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which('gcc') is None, reason='there is no compiler')
def test_extensions_are_built_from_the_code_revision(tmp_path: Path) -> None:
    files = {
        'setup.py': SETUP,
        'src/price.c': MODULE.format(name='_price', price=1),
        'src/plain.c': MODULE.format(name='plain', price=1),
        'till/__init__.py': 'from till._price import price\nfrom till.plain import other\n',
        'till/plain.py': 'other = "of Python"\n',
        'tests/test_till.py': 'import till\n\n\ndef test_price():\n    assert till.price() == 1\n',
    }
    dearer = {'src/price.c': MODULE.format(name='_price', price=2)}
    with shop(tmp_path, files, dearer) as place:
        if place.builds[0].find_trouble('.') == 'needs_compiler':
            pytest.skip('the interpreter has no headers')
        assert [build.find_trouble('.') for build in place.builds] == [None, None]
        for tests, code, outcome in (
            (place.old, place.old, Outcome.PASS),
            (place.old, place.new, Outcome.FAIL),
        ):
            assert place.verdict(method('test_price'), place.cell(tests, code)).outcome is outcome


@pytest.mark.slow
def test_mypyc_modules_are_run_uncompiled(tmp_path: Path) -> None:
    """Its extensions hide modules in Python: none is built, so nothing is lost where it cannot be."""
    files = {
        'setup.py': (
            'from mypyc.build import mypycify\n'
            'from setuptools import setup\n\n'
            "setup(name='purse', version='1.0', ext_modules=mypycify(['../till/price.py']))\n"
        ),
        'tests/test_till.py': 'def test_price():\n    assert True\n',
    }
    with shop(tmp_path, files, {'README': ''}) as place:
        assert [build.find_trouble('.') for build in place.builds] == [None, None]
        assert place.verdict(method('test_price')).outcome is Outcome.PASS
