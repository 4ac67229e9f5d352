"""uv in a sandbox: what it resolves and installs, what it sees, and whose fault it is where it does not."""

from __future__ import annotations

import io
import os
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from coevo.languages.python.interpreters import Interpreter, find_interpreters
from coevo.languages.python.requirements.stated import Needs, StatedRequirements, merge_requirements
from coevo.languages.python.resolution import (
    LockedRequirements,
    ResolutionFailure,
    resolve_requirements,
)
from coevo.languages.python.run_context import copy_programs
from coevo.languages.python.uv_jobs import (
    RESOLVING,
    UvFailure,
    compile_requirements,
    install_packages,
)
from coevo.languages.python.wheels import WheelMaker
from coevo.model.errors import Transient
from coevo.sandboxes.sandbox import Sandbox, open_sandbox
from coevo.sandboxes.workspace import open_workspace
from tests.coevo.languages.python.index_server import Shelf, serving, wheel

DAY = datetime(2024, 3, 1, tzinfo=UTC)


@pytest.fixture(
    scope='module', params=['bubblewrap', 'none', pytest.param('docker', marks=pytest.mark.docker)]
)
def any_sandbox(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    if request.param == 'docker':
        request.getfixturevalue('daemon')
    opened = open_sandbox(request.param)
    yield opened
    opened.close()


@pytest.fixture
def interpreter() -> Interpreter:
    return next(one for one in find_interpreters() if one.feature == sys.version_info[:2])


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Shelf]:
    with serving(monkeypatch, Shelf()) as opened:
        for name in ('pytest', 'setuptools', 'wheel'):
            opened.add_wheel(name, '8.0')
        opened.add_wheel('shoe', '1.0', ('lace>=2',), shoe_data=b'left')
        opened.add_wheel('lace', '1.0')
        opened.add_wheel('lace', '2.0')
        yield opened


@pytest.fixture
def folder() -> Iterator[Path]:
    with open_workspace() as opened:
        yield opened


def locked(sandbox: Sandbox, interpreter: Interpreter, *lines: str) -> str:
    found = compile_requirements(sandbox, lines, interpreter, DAY)
    assert isinstance(found, str), found
    return found


def refused(
    sandbox: Sandbox, interpreter: Interpreter, *lines: str, reason: str = 'requirements'
) -> ResolutionFailure:
    needs = Needs(runtime=lines)
    found = resolve_requirements(needs, interpreter, DAY, lambda *_: 'no_source', sandbox)
    assert isinstance(found, ResolutionFailure)
    assert found.reason == reason
    return found


@pytest.mark.sampled(1)
def test_requirements_are_pinned_and_installed(
    any_sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path
) -> None:
    found = locked(any_sandbox, interpreter, 'shoe')
    assert [line.split()[0] for line in found.splitlines()[::2]] == ['lace==2.0', 'shoe==1.0']
    site = folder / 'site'
    site.mkdir()
    assert install_packages(any_sandbox, found, interpreter, site) is None
    assert (site / 'shoe.py').read_text() == "version = '1.0'\n"
    assert (site / 'shoe_data').read_bytes() == b'left'
    tag = sys.implementation.cache_tag
    assert (site / f'__pycache__/lace.{tag}.pyc').is_file()
    assert b'/packages/lace.py' in (site / f'__pycache__/lace.{tag}.pyc').read_bytes()
    assert {path.name for path in site.iterdir()} == {
        *('__pycache__', 'lace.py', 'lace-2.0.dist-info', 'shoe.py', 'shoe_data'),
        *('shoe-1.0.dist-info', '.lock'),  # uv's own
    }


@pytest.mark.sampled(1)
def test_a_local_wheel_is_found_beside_the_index(
    any_sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path
) -> None:
    wheels = folder / 'wheels'
    wheels.mkdir()
    for file in [name for name in shelf.content if 'lace' in name]:
        (wheels / Path(file).name).write_bytes(shelf.content.pop(file))
    del shelf.pages['lace']
    found = compile_requirements(any_sandbox, ['shoe'], interpreter, DAY, wheels=wheels)
    assert isinstance(found, str)
    site = folder / 'site'
    site.mkdir()
    assert install_packages(any_sandbox, found, interpreter, site, wheels) is None
    assert (site / 'lace.py').is_file()


def test_equal_files_of_two_environments_share_an_inode(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path
) -> None:
    inodes = set()
    for number, lines in enumerate((['lace==2.0'], ['shoe', 'lace'])):
        site = folder / str(number)
        site.mkdir()
        wanted = locked(sandbox, interpreter, *lines)
        assert install_packages(sandbox, wanted, interpreter, site) is None
        tag = sys.implementation.cache_tag
        inodes.add((site / f'__pycache__/lace.{tag}.pyc').stat().st_ino)
    assert len(inodes) == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ('line', 'reason'),
    [
        ('lace==1.503', 'requirements:lace'),  # no status 503
        ('lace==502.504', 'requirements:lace'),
        ('dns-error', 'requirements:dns-error'),
        ('timed-out', 'requirements:timed-out'),
        ('connection-refused', 'requirements:connection-refused'),
        ('request-failed-after-3-retries', 'requirements:request-failed-after-3-retries'),
        ('shoe==1.0,lace', 'requirements'),
    ],
)
def test_requirements_that_look_like_network_errors_are_a_verdict(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, line: str, reason: str
) -> None:
    refused(sandbox, interpreter, line, reason=reason)


def test_an_index_error_is_no_verdict_whatever_uv_reports(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    shelf.statuses['/simple/lace/'] = 500
    with pytest.raises(Transient, match='/simple/lace/ cannot be fetched'):
        resolve_requirements(
            Needs(runtime=('shoe',)), interpreter, DAY, lambda *_: 'no_source', sandbox
        )


def test_a_damaged_wheel_from_the_index_is_no_verdict(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path
) -> None:
    found = locked(sandbox, interpreter, 'lace')
    shelf.content['/files/lace-2.0-py3-none-any.whl'] += b'x'
    with pytest.raises(Transient, match='another file than its page names'):
        install_packages(sandbox, found, interpreter, folder)


def test_a_resolution_above_its_cpu_limit_is_a_verdict(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    row = shelf.pages['lace'][0]
    shelf.pages['lace'] += [
        {**row, 'filename': f'lace-3.{number}-py3-none-any.whl', 'requires-python': '<3'}
        for number in range(60_000)
    ]
    limits = replace(RESOLVING, cpu_seconds=0.1)
    found = compile_requirements(sandbox, ['lace'], interpreter, DAY, limits=limits)
    assert isinstance(found, UvFailure)
    assert found.exceeded == 'cpu'


def test_an_index_that_does_not_answer_is_no_verdict(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    shelf.statuses['/simple/lace/'] = 0
    limits = replace(RESOLVING, wall_seconds=3.0)
    with pytest.raises(Transient, match='does not answer in time'):
        compile_requirements(sandbox, ['lace'], interpreter, DAY, limits=limits)


ODD = (
    'a/b',
    '../../etc/passwd',
    '/etc/passwd',
    '..',
    'lace\0',
    'x' * 300,
    'x' * 100_000,
    'é',
    'l\u0430ce',  # of another alphabet
    'con',
    '__init__',
    '-r /etc/passwd',
    '--index-url http://127.0.0.1:9/simple/',
    'lace\n--index-url http://127.0.0.1:9/simple/',
    'lace @ file:///etc/passwd',
    'lace @ http://127.0.0.1:9/lace-1.0-py3-none-any.whl',
    'file:///etc/passwd',
    'lace==' + '9' * 5000,
    'lace==1.0; python_version',
    'lace>=1.0; "' + 'x' * 200,
    'lace[' + 'x' * 300 + ']',
    'lace<=\u0661',
)


@pytest.mark.slow
def test_malformed_or_hostile_requirements_are_a_verdict_or_left_out(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    for line in ODD:
        needs = merge_requirements([StatedRequirements(name='till', runtime=('shoe', line))])
        found = resolve_requirements(needs, interpreter, DAY, lambda *_: 'no_source', sandbox)
        if 'shoe' in needs.runtime and len(needs.runtime) == 1:
            assert isinstance(found, LockedRequirements), line
        elif isinstance(found, ResolutionFailure):
            assert found.reason.startswith('requirements'), line
    assert all(path.startswith(('/simple/', '/files/')) for path, _ in shelf.asked)


@pytest.mark.sampled(2)
@pytest.mark.parametrize('name', ['LACE', 'Lace', 'l.ace', 'l_ace', 'l--ace'])
def test_a_package_name_is_matched_in_its_normalised_form(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, name: str
) -> None:
    if name.lower() == 'lace':
        assert locked(sandbox, interpreter, name).startswith('lace==2.0')
    else:
        refused(sandbox, interpreter, name, reason='requirements:l-ace')


def test_uv_sees_neither_host_files_nor_the_host_network(
    sandbox: Sandbox,
    interpreter: Interpreter,
    shelf: Shelf,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret = folder / 'secret.txt'
    secret.write_text('lace==1.0\n')
    monkeypatch.setenv('UV_CONSTRAINT', str(secret))
    monkeypatch.setenv('UV_INDEX_URL', 'http://127.0.0.1:9/simple/')
    assert locked(sandbox, interpreter, 'lace').startswith('lace==2.0')
    found = compile_requirements(sandbox, [f'-r {secret}'], interpreter, DAY)
    assert isinstance(found, UvFailure)
    found = compile_requirements(
        sandbox, [f'lace @ {shelf.url}../files/lace-1.0-py3-none-any.whl'], interpreter, DAY
    )
    assert isinstance(found, UvFailure)


def test_a_requirement_that_names_a_file_in_the_sandbox_is_refused(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path
) -> None:
    file = 'lace-1.0-py3-none-any.whl'
    wheels = folder / 'wheels'
    wheels.mkdir()
    (wheels / file).write_bytes(shelf.content[f'/files/{file}'])
    found = compile_requirements(
        sandbox, [f'lace @ file:///in/wheels/{file}'], interpreter, DAY, wheels=wheels
    )
    assert found == UvFailure(output='a requirement has no version of an index')


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    'path',
    ['../evil.py', '../../../evil.py', '/tmp/evil.py', 'a/../../evil.py', 'x' * 300, '.coevo-end'],
)
def test_a_wheel_with_hostile_paths_is_a_verdict_or_stays_in_its_folder(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path, path: str
) -> None:
    file = 'clog-1.0-py3-none-any.whl'
    shelf.add('clog', file, wheel('clog', '1.0', files={path: b'evil'}))
    site = folder / 'below/site'
    site.mkdir(parents=True)
    found = install_packages(sandbox, locked(sandbox, interpreter, 'clog'), interpreter, site)
    assert found is None or found.exceeded is None
    assert [one.name for one in site.parent.iterdir()] == ['site']
    assert not list(folder.glob('evil*'))
    assert found is not None or (site / 'clog.py').is_file()


# uv's own words, as 0.13.8 says them.
def test_a_missing_package_is_read_from_uv_output(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    shelf.add_wheel('boot', '1.0', ('sole',))
    refused(sandbox, interpreter, 'sole', reason='requirements:sole')
    refused(sandbox, interpreter, 'boot', 'shoe', reason='requirements:sole')
    needs = Needs(runtime=('shoe',), tests=('sole',))
    found = resolve_requirements(needs, interpreter, DAY, lambda *_: 'no_source', sandbox)
    assert isinstance(found, LockedRequirements)
    assert found.workarounds == ('without-sole',)


@pytest.mark.parametrize(
    ('lines', 'is_final'),
    [
        (('sole',), True),
        (('lace>=3',), True),
        (('lace==1.503',), True),
        (('sole; python_version > "3"',), False),  # another interpreter may not need it
        (('boot',), False),  # nor may a library of another day
        (('shoe', 'lace<2'), False),
        (('clog',), False),  # which may have a wheel for another interpreter
    ],
)
def test_only_what_the_project_requires_and_no_index_has_is_final(
    lines: tuple[str, ...],
    is_final: bool,
    sandbox: Sandbox,
    interpreter: Interpreter,
    shelf: Shelf,
) -> None:
    shelf.add_wheel('boot', '1.0', ('sole',))
    shelf.add_source('clog', '1.0', {'setup.py': ''})
    found = resolve_requirements(
        Needs(runtime=lines), interpreter, DAY, lambda *_: 'no_source', sandbox
    )
    assert isinstance(found, ResolutionFailure)
    assert found.is_final is is_final


def test_a_package_without_a_wheel_is_read_from_uv_output(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    shelf.add_source('clog', '1.0', {'setup.py': ''})
    refused(sandbox, interpreter, 'clog', reason='no_source:clog')


def test_a_package_uploaded_later_is_read_from_uv_output(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    row = shelf.add_wheel('boot', '1.0')
    row['upload-time'] = '2024-08-01T10:00:00Z'
    found = resolve_requirements(
        Needs(runtime=('boot',)), interpreter, DAY, lambda *_: 'no_source', sandbox
    )
    assert isinstance(found, LockedRequirements)
    assert found.workarounds == ('later-boot',)


def test_one_of_two_contradicting_requirements_is_read_from_uv_output(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf
) -> None:
    refused(sandbox, interpreter, 'shoe', 'lace<2', reason='requirements:shoe')


BACKEND = """\
import os

def build_wheel(folder, settings):
    with open(os.path.join(folder, {name!r}), 'wb') as new:
        new.write({content!r})
    return {name!r}
"""


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    'name',
    [
        '../clog-1.0-py3-none-any.whl',
        '/tmp/clog-1.0-py3-none-any.whl',
        'clog',
        'x y.whl',
        'é-1.whl',
    ],
)
def test_a_built_wheel_is_kept_only_under_a_valid_wheel_name(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path, name: str
) -> None:
    project = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
    backend = BACKEND.format(name=name, content=b'PK')
    shelf.add_source('clog', '1.0', {'pyproject.toml': project, 'own.py': backend})
    maker = WheelMaker(sandbox, copy_programs(folder / 'programs'), folder / 'wheels')
    assert maker.add_wheel_and_get_folder('clog', ('clog',), DAY, interpreter) == 'no_wheel'
    assert not (folder / 'wheels').exists()


def test_a_source_archive_is_built_whatever_its_file_name_in_the_index(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path
) -> None:
    project = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'
    made = 'clog-1.0-py3-none-any.whl'
    backend = BACKEND.format(name=made, content=os.urandom(8))
    shelf.add_source('clog', '1.0', {'pyproject.toml': project, 'own.py': backend})
    shelf.pages['clog'][0]['filename'] = f'clog {"x" * 200}-1.0.tar.gz'
    maker = WheelMaker(sandbox, copy_programs(folder / 'programs'), folder / 'wheels')
    found = maker.add_wheel_and_get_folder('clog', ('clog',), DAY, interpreter)
    assert isinstance(found, Path)
    assert [path.name for path in found.iterdir()] == [made]


@pytest.mark.sampled(1)
@pytest.mark.parametrize('kind', ['no archive', 'expands', 'names itself'])
def test_a_damaged_or_hostile_source_archive_is_a_verdict(
    sandbox: Sandbox, interpreter: Interpreter, shelf: Shelf, folder: Path, kind: str
) -> None:
    packed = io.BytesIO(os.urandom(16))
    if kind != 'no archive':
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode='w:gz') as archive:
            member = tarfile.TarInfo('clog-1.0/pyproject.toml')
            member.size = 64 << 20 if kind == 'expands' else 0
            if kind == 'names itself':
                member.type, member.linkname = tarfile.SYMTYPE, 'pyproject.toml'
            archive.addfile(member, io.BytesIO(bytes(member.size)))
    shelf.add('clog', 'clog-1.0.tar.gz', packed.getvalue())
    maker = WheelMaker(sandbox, copy_programs(folder / 'programs'), folder / 'wheels')
    assert maker.add_wheel_and_get_folder('clog', ('clog',), DAY, interpreter) == 'no_wheel'
