"""What holds for the project as a whole: its wheel, its locks, its layers and what it names."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests import snapshots

ROOT = Path(__file__).parent.parent
BIN = Path(sys.executable).parent

# Of all that the wheel's user has: what `query` and `verify` need.
CORE = ('duckdb', 'fsspec', 'pyarrow', 'pytz', 'urllib3')
LOCKS = ('requirements.lock', 'requirements-dev.lock', 'requirements-setup.lock')

# Modules of the wheel that someone who only queries must be able to import.
IMPORTABLE = (
    'coevo.command.main',
    'coevo.model.records',
    'coevo.model.labels',
    'coevo.model.profiles',
    'coevo.command.doctor',
)


def attempt(
    *command: str | Path, cwd: Path = ROOT, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, whatever that is."""
    return subprocess.run(
        command,
        check=False,
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def run(*command: str | Path, cwd: Path = ROOT, **environment: str) -> str:
    """The output of a command that has to succeed."""
    done = attempt(*command, cwd=cwd, **environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope='module')
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp('dist')
    run(BIN / 'python', '-m', 'hatchling', 'build', '-t', 'wheel', '-d', folder)
    (built,) = folder.glob('*.whl')
    return built


@pytest.fixture(scope='module')
def alone(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of an environment that holds the wheel and what it asks for, nothing else."""
    uv = shutil.which('uv', path=os.pathsep.join((str(ROOT / '.tools/bin'), os.environ['PATH'])))
    assert uv is not None, 'run `make setup` first'
    environment = tmp_path_factory.mktemp('alone') / 'venv'
    run(uv, 'venv', '--quiet', '--python', sys.executable, environment)
    pins = f'--constraint={ROOT / "requirements.lock"}'
    trust = {'UV_SYSTEM_CERTS': 'true', 'UV_NATIVE_TLS': 'true'}  # as the set-up does
    run(uv, 'pip', 'install', '--quiet', pins, wheel, VIRTUAL_ENV=str(environment), **trust)
    return environment / 'bin'


def test_wheel_contains_only_the_core(wheel: Path) -> None:
    names = run(BIN / 'python', '-m', 'zipfile', '-l', wheel).splitlines()[1:]
    tops = {line.split('/')[0] for line in names}
    assert tops == {'coevo', 'coevo-0.1.0.dist-info'}
    for needed in (
        'coevo/model/profiles.toml',
        'coevo/model/licences.toml',
        'coevo/snapshots/queries/identification.sql',
        'coevo/languages/java/jvm/pins.toml',
        'coevo/languages/java/jvm/worker/Worker.java',
    ):
        assert any(line.startswith(needed) for line in names), needed


def test_package_has_types_one_version_and_a_ci_that_runs_both_commands(wheel: Path) -> None:
    """One version everywhere; types for who imports it; a public CI that calls the two commands."""
    names = run(BIN / 'python', '-m', 'zipfile', '-l', wheel)
    assert 'coevo/py.typed' in names
    cited = re.search(r'^version: (.*)$', (ROOT / 'CITATION.cff').read_text(), re.MULTILINE)
    assert cited is not None
    assert cited[1] == version('coevo')
    steps = (ROOT / '.github/workflows/test.yml').read_text()
    assert re.findall(r'- run: (make .*)', steps) == ['make demo', 'make test']


def test_wheel_works_with_only_its_own_dependencies(alone: Path, tmp_path: Path) -> None:
    assert 'query' in run(alone / 'coevo', '--help', cwd=tmp_path)
    assert run(alone / 'coevo', '--version', cwd=tmp_path) == f'coevo {version("coevo")}\n'
    imports = '; '.join(f'import {name}' for name in IMPORTABLE)
    code = f'import sys; before = {{*sys.modules}}; {imports}; print(*{{*sys.modules}} - before)'
    loaded = run(alone / 'python', '-c', code, cwd=tmp_path)
    outside = {name.split('.')[0] for name in loaded.split()} - set(sys.stdlib_module_names)
    assert {name for name in outside if not name.startswith('_')} <= {'coevo', *CORE}


@pytest.mark.parametrize('verb', ['query', 'verify', 'show', 'get', 'report identification'])
def test_commands_that_read_a_snapshot_need_no_more_than_the_wheel(
    alone: Path, tmp_path: Path, verb: str
) -> None:
    arguments = ['x'] if verb == 'show' else []
    done = attempt(alone / 'coevo', *verb.split(), 'nowhere', *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert 'Traceback' not in done.stderr
    assert 'nowhere' in done.stderr


def test_a_snapshot_is_read_and_verified_with_the_wheel_alone(alone: Path, tmp_path: Path) -> None:
    """Times, too: DuckDB makes objects of them with a package that it does not ask for."""
    snapshots.make(tmp_path, 1, 2)
    assert 'good' in run(alone / 'coevo', 'verify', 'snapshot', cwd=tmp_path)
    ask = "SELECT max(contamination_date) FROM clean('2019-12')"
    code = f'import coevo; print(coevo.open("snapshot").sql("""{ask}""").fetchall())'
    assert 'datetime' in run(alone / 'python', '-c', code, cwd=tmp_path)
    task_id = run(
        alone / 'coevo', 'query', 'snapshot', 'SELECT min(task_id) FROM tasks', cwd=tmp_path
    )
    shown = run(alone / 'coevo', 'show', 'snapshot', task_id.split()[-3], cwd=tmp_path)
    assert 'public since' in shown


def test_pipeline_commands_explain_how_to_install_them(alone: Path, tmp_path: Path) -> None:
    for words, verb in ((('mine', 'x'), 'mine'), (('pipeline', 'status'), 'pipeline status')):
        done = attempt(alone / 'coevo', *words, cwd=tmp_path)
        assert done.returncode == 2
        assert f'`coevo {verb}` is part of' in done.stderr
        assert 'make setup' in done.stderr


def test_foreign_package_of_the_same_name_is_not_taken_for_the_pipeline(
    alone: Path, tmp_path: Path
) -> None:
    (tmp_path / 'flows').mkdir()
    for name in ('__init__', 'cli'):
        (tmp_path / 'flows' / f'{name}.py').write_text('raise SystemExit("it was imported")')
    done = attempt(alone / 'coevo', 'mine', 'x', cwd=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert 'make setup' in done.stderr


@pytest.mark.parametrize(
    'words',
    [
        ('evaluate', 'x', 'y', '--out', 'z'),
        ('run', 'x', '--model', 'y'),
        ('report', 'compare', 'x', 'y'),
        ('report', 'x'),
        ('doctor', '--install'),
    ],
)
def test_evaluation_commands_name_the_extra_that_they_need(
    alone: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    done = attempt(alone / 'coevo', *words, cwd=tmp_path)
    assert done.returncode == 2
    assert "-py3-none-any.whl[evaluate]'" in done.stderr


@pytest.mark.parametrize('name', LOCKS)
def test_lock_file_has_a_hash_for_every_package_and_no_address(name: str) -> None:
    text = (ROOT / name).read_text()
    assert '://' not in text
    assert '--index' not in text
    for requirement in re.split(r'\n(?=\S)', text):
        if '==' in requirement:
            assert '--hash=sha256:' in requirement, requirement


def test_lock_files_pin_the_same_versions() -> None:
    pins = {}
    for name in LOCKS:
        for package, pinned, where in re.findall(
            r'^([\w.-]+)==(\S+)(?: ; (.*))? \\$', (ROOT / name).read_text(), re.MULTILINE
        ):
            assert pins.setdefault((package, where), pinned) == pinned, (name, package)
    assert len(pins) > 100


def test_installed_packages_have_the_locked_versions() -> None:
    for package in ('prefect', 'fastapi', 'duckdb', 'pyarrow', 'tree-sitter-java', 'jpype1'):
        assert f'{package}=={version(package)} ' in (ROOT / 'requirements-dev.lock').read_text()


def test_no_layer_imports_a_layer_above_it() -> None:
    run(BIN / 'lint-imports')


def test_no_committed_file_names_a_registry_host() -> None:
    """The ordinary clients know where packages come from; a mirror must work as well."""
    hosts = ('py' + 'pi.org', 'pythonhosted' + '.org', 'repo' + '.maven.apache', 'repo1' + '.maven')
    pattern = '|'.join(re.escape(host) for host in hosts)
    done = attempt('git', 'grep', '-lIE', pattern)
    assert (done.returncode, done.stdout) == (1, ''), done.stdout


def test_make_lists_its_targets() -> None:
    shown = run('make', '--no-print-directory')
    for target in ('setup', 'demo', 'test', 'test-all', 'lint', 'format', 'lock', 'clean'):
        assert f'make {target} ' in shown
