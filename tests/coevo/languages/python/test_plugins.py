"""Honest tests under widely used plugins of pytest: told as they are, and believed by the observer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from coevo.model.words import Outcome
from tests.coevo.languages.python.shops import PROJECT, SHORTLY, method, shop

DATES = ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z')

# Each name of a distribution, and a passing test that uses what it brings.
USES = {
    'pytest-mock': 'def test_mock(mocker):\n    assert mocker.Mock(return_value=1)() == 1\n',
    'pytest-asyncio': (
        '@pytest.mark.asyncio\nasync def test_asyncio():\n    await asyncio.sleep(0)\n'
    ),
    'pytest-timeout': '@pytest.mark.timeout(9)\ndef test_timeout():\n    pass\n',
    'pytest-benchmark': 'def test_benchmark(benchmark):\n    assert benchmark(lambda: 1) == 1\n',
    'pytest-freezer': (
        "def test_freezer(freezer):\n    freezer.move_to('2020-01-01')\n    assert time.time() < 1.6e9\n"
    ),
    'pytest-socket': 'def test_socket(socket_disabled):\n    pass\n',
    'pytest-order': '@pytest.mark.order(1)\ndef test_order():\n    pass\n',
    'pytest-check': 'def test_check(check):\n    check.equal(1, 1)\n',
    'pytest-datadir': 'def test_datadir(datadir):\n    assert datadir\n',
    'pytest-regressions': (
        'def test_regressions(data_regression):\n    assert callable(data_regression.check)\n'
    ),
    'syrupy': 'def test_syrupy(snapshot):\n    assert snapshot is not None\n',
    'pytest-httpserver': 'def test_httpserver(httpserver):\n    assert httpserver.port\n',
    'pytest-httpx': 'def test_httpx(httpx_mock):\n    assert httpx_mock\n',
    'requests-mock': 'def test_requests_mock(requests_mock):\n    assert requests_mock\n',
    'responses': 'def test_responses():\n    import responses\n\n    assert responses.mock\n',
    'pytest-subprocess': 'def test_subprocess(fp):\n    fp.register(["ls"])\n',
    'pytest-recording': '@pytest.mark.vcr\ndef test_recording():\n    pass\n',
    'pytest-env': 'def test_env():\n    assert os.environ\n',
    'pytest-dependency': '@pytest.mark.dependency\ndef test_dependency():\n    pass\n',
    'pytest-repeat': '@pytest.mark.repeat(3)\ndef test_repeat():\n    pass\n',
    'pytest-lazy-fixtures': (
        '@pytest.fixture\ndef one():\n    return 1\n\n\n'
        "@pytest.mark.parametrize('it', [pytest_lazy_fixtures.lf('one')])\n"
        'def test_lazy(it):\n    assert it == 1\n'
    ),
    'pytest-cases': (
        '@pytest_cases.parametrize_with_cases("x", cases=[lambda: 1])\n'
        'def test_cases(x):\n    assert x == 1\n'
    ),
    'pytest-trio': '@pytest.mark.trio\nasync def test_trio():\n    pass\n',
    'anyio': '@pytest.mark.anyio\nasync def test_anyio():\n    pass\n',
    'hypothesis': (
        '@hypothesis.given(hypothesis.strategies.integers())\n'
        'def test_hypothesis(number):\n    assert number == number\n'
    ),
    'pytest-unordered': (
        'def test_unordered():\n    assert [1, 2] == pytest_unordered.unordered([2, 1])\n'
    ),
    'pytest-mypy-testing': 'def test_mypy_testing():\n    pass\n',
    'pytest-icdiff': 'def test_icdiff():\n    assert [1] == [1]\n',
    'pytest-assume': 'def test_assume():\n    pytest.assume(True)\n',
    'pytest-django': 'def test_django(settings):\n    assert settings\n',
    'pytest-flask': 'def test_flask():\n    pass\n',
    'pytest-aiohttp': 'async def test_aiohttp(aiohttp_client):\n    assert aiohttp_client\n',
}
IMPORTS = {
    'pytest-lazy-fixtures': 'pytest_lazy_fixtures',
    'pytest-cases': 'pytest_cases',
    'hypothesis': 'hypothesis',
    'pytest-unordered': 'pytest_unordered',
}
# What a plugin does not bring itself, and what its documentation asks a project to set.
BESIDES = {'pytest-django': 'Django'}
SETTINGS = {
    'pytest-django': '[pytest]\nDJANGO_SETTINGS_MODULE = settings\n',
    'pytest-aiohttp': '[pytest]\nasyncio_mode = auto\n',
}
# Plugins that change how every test runs have an environment of their own.
# pytest-cases and pytest-lazy-fixtures do not work together: each of them rewrites fixtures.
APART = (
    'pytest-aiohttp',
    'pytest-cases',
    'pytest-django',
    'pytest-flask',
    'pytest-mypy-testing',
    'pytest-trio',
)
TOGETHER = tuple(name for name in USES if name not in APART)
FAILS = '\n\ndef test_fails():\n    assert [1] == [2]\n'


@pytest.mark.slow
@pytest.mark.parametrize('plugins', [TOGETHER, *((name,) for name in APART)], ids='+'.join)
def test_tests_under_a_plugin_have_their_own_outcomes(
    plugins: tuple[str, ...], tmp_path: Path
) -> None:
    besides = (BESIDES[name] for name in plugins if name in BESIDES)
    needs = ', '.join(f'"{name}"' for name in ('pytest>=7', *plugins, *besides))
    head = [
        'asyncio',
        'os',
        'time',
        'pytest',
        *(IMPORTS[name] for name in plugins if name in IMPORTS),
    ]
    text = ''.join(f'import {name}\n' for name in head) + '\n\n'
    text += '\n\n'.join(USES[name] for name in plugins) + FAILS
    old = {
        'till.py': 'PRICE = 1\n',
        'tests/test_till.py': text,
        'settings.py': "SECRET_KEY = '1'\n",
    }
    for settings in (SETTINGS[name] for name in plugins if name in SETTINGS):
        old['pytest.ini'] = settings
    project = PROJECT + f'[project.optional-dependencies]\ntest = [{needs}]\n'
    with shop(tmp_path, old, {'till.py': 'PRICE = 2\n'}, project, dates=DATES) as place:
        lines = text.splitlines()
        names = [
            line.partition('def ')[2].partition('(')[0] for line in lines if 'def test_' in line
        ]
        for conditions in (SHORTLY, replace(SHORTLY, observed=True)):
            verdicts = place.run(*map(method, names), conditions=conditions).verdicts
            found = {
                name: (verdict and verdict.outcome, verdict and verdict.tampered)
                for name, verdict in zip(names, verdicts, strict=True)
            }
            fails = found.pop('test_fails')
            assert fails[0] is Outcome.FAIL
            assert found == dict.fromkeys(found, (Outcome.PASS, None))
