"""Plugins of pytest lie in an environment as pytest rewrites them, so that no test process does it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.python.installation import add_rewritten_plugins
from coevo.languages.python.interpreters import Interpreter, find_interpreters
from coevo.languages.python.resolution import InstalledPackages
from coevo.languages.python.run_context import copy_programs
from coevo.languages.python.uv_jobs import compile_requirements, install_packages
from coevo.sandboxes.sandbox import Sandbox
from coevo.sandboxes.workspace import open_workspace

DAY = datetime(2026, 3, 1, tzinfo=UTC)

LIST_REWRITTEN = """\
import sys
from _pytest.assertion import rewrite

rewrite_test, names = rewrite._rewrite_test, []


def note(path, *others):
    names.append(path.name)
    return rewrite_test(path, *others)


rewrite._rewrite_test = note
import pytest

status = pytest.main(['-q', '-p', 'no:cacheprovider', sys.argv[1]])
print('rewritten:', *sorted(names))
sys.exit(status)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_workspace() as opened:
        yield opened


@pytest.fixture
def installed(sandbox: Sandbox, folder: Path) -> InstalledPackages:
    interpreter = next(one for one in find_interpreters() if one.feature == sys.version_info[:2])
    return install(sandbox, interpreter, folder / 'site', 'pytest==8.4.*', 'pytest-mock')


def install(
    sandbox: Sandbox, interpreter: Interpreter, site: Path, *lines: str
) -> InstalledPackages:
    site.mkdir(mode=0o755)
    locked = compile_requirements(sandbox, lines, interpreter, DAY)
    assert isinstance(locked, str), locked
    assert install_packages(sandbox, locked, interpreter, site) is None
    return InstalledPackages(interpreter=interpreter, site=site, locked=locked)


def list_rewritten(installed: InstalledPackages, folder: Path) -> list[str]:
    """Run pytest on one test that uses a plugin; return the files whose assertions it rewrote."""
    test = folder / 'test_it.py'
    test.write_text('def test_it(mocker):\n    assert mocker.Mock(return_value=1)() == 1\n')
    done = subprocess.run(
        [sys.executable, '-B', '-S', '-c', LIST_REWRITTEN, str(test)],
        env={**os.environ, 'PYTHONPATH': str(installed.site)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()[-1].split()[1:]


def test_a_process_rewrites_its_test_file_alone(
    sandbox: Sandbox, installed: InstalledPackages, folder: Path
) -> None:
    before = list_rewritten(installed, folder)
    assert {'plugin.py', 'test_it.py'} <= set(before)
    add_rewritten_plugins(installed, copy_programs(folder / 'programs'), sandbox)
    assert list_rewritten(installed, folder) == ['test_it.py']


def test_only_byte_code_is_added(
    sandbox: Sandbox, installed: InstalledPackages, folder: Path
) -> None:
    def list_files() -> set[str]:
        return {str(path.relative_to(installed.site)) for path in installed.site.rglob('*')}

    before = list_files()
    package = installed.site / 'pytest_mock'
    (package / 'broken.py').write_text('def (:\n')
    programs = copy_programs(folder / 'programs')
    add_rewritten_plugins(installed, programs, sandbox)
    added = list_files() - before - {'pytest_mock/broken.py'}
    tag = f'{sys.implementation.cache_tag}-pytest-'
    assert added
    assert all(
        name.startswith('pytest_mock/__pycache__/') and tag in name and 'broken' not in name
        for name in added
    )
    files = {name: (installed.site / name).read_bytes() for name in added}
    for name in added:
        (installed.site / name).unlink()
    add_rewritten_plugins(installed, programs, sandbox)
    assert {name: (installed.site / name).read_bytes() for name in added} == files


def test_packages_without_pytest_stay_as_they_are(sandbox: Sandbox, folder: Path) -> None:
    interpreter = next(one for one in find_interpreters() if one.feature == sys.version_info[:2])
    installed = install(sandbox, interpreter, folder / 'site', 'iniconfig')
    before = sorted(installed.site.rglob('*'))
    add_rewritten_plugins(installed, copy_programs(folder / 'programs'), sandbox)
    assert sorted(installed.site.rglob('*')) == before
