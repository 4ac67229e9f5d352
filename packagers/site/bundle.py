"""The page's program: our sources and two small libraries in one file, made once by esbuild.

What npm installs is named with checksums in `web/package-lock.json`. The bundle lies in the tool
cache under a name that the lock and the sources decide, so it is made again when these change.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from coevo.model.errors import Fatal
from coevo.model.listener import Say
from coevo.sandboxes.host_tools import run_tool
from coevo.storage.building import build_folder_once
from coevo.storage.folders import find_cache_folder

_WEB = Path(__file__).with_name('web')
_LIBRARIES = ('hyparquet', 'fzstd')
_STORE = Path('/etc/ssl/certs/ca-certificates.crt')
# esbuild 0.28 and the page's own language level ask for no more.
_OLDEST_NODE = 18


def build_bundle(say: Say) -> Path:
    """The folder of the page's files; `say` hears that it is made if it is not there yet."""
    target = find_cache_folder() / 'tools' / f'site-{_compute_digest()}'  # own name: a digest
    if not target.is_dir():
        npm = _find_npm()
        with build_folder_once(target) as new:
            if new is not None:
                say('fetching and bundling what the page is made of (once)')
                _install_and_bundle(new, npm)
    return target


def _compute_digest() -> str:
    digest = hashlib.sha256()
    for path in _list_sources():
        digest.update(path.as_posix().encode() + b'\0' + (_WEB / path).read_bytes() + b'\0')
    return digest.hexdigest()[:16]


def _list_sources() -> list[Path]:
    """Relative to their folder; not what somebody's own `npm ci` left there."""
    paths = (path.relative_to(_WEB) for path in _WEB.rglob('*') if path.is_file())
    return sorted(path for path in paths if path.parts[0] not in ('node_modules', 'bundle'))


def _find_npm() -> str:
    node, npm = shutil.which('node'), shutil.which('npm')
    if node is None or npm is None or _get_node_major_version(node) < _OLDEST_NODE:
        raise Fatal(
            f'The page is bundled with npm on Node.js {_OLDEST_NODE} or newer, which is not on PATH; '
            'install it (apt install nodejs npm) and run again'
        )
    return npm


def _get_node_major_version(node: str) -> int:
    """18, 20, … of `v20.1.0`."""
    done = subprocess.run([node, '--version'], check=False, capture_output=True, text=True)
    major = done.stdout.strip().removeprefix('v').partition('.')[0]
    return int(major) if major.isdecimal() else 0


def _install_and_bundle(folder: Path, npm: str) -> None:
    work = folder / 'work'
    for path in _list_sources():
        (work / path).parent.mkdir(parents=True, exist_ok=True)  # own name: a source of the page
        shutil.copyfile(_WEB / path, work / path)  # own name: a source of the page
    quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error']
    _run_npm(
        [npm, 'ci', '--ignore-scripts', *quiet], work, 'npm could not fetch what the page needs'
    )
    _run_npm([npm, 'run', '--silent', 'bundle'], work, 'esbuild could not bundle the page')
    for path in sorted((work / 'bundle').iterdir()):
        shutil.copyfile(path, folder / path.name)  # own name: what esbuild made
    shutil.copyfile(work / 'index.html', folder / 'index.html')
    (folder / 'licences.txt').write_text('\n'.join(_load_licences(work / 'node_modules')))
    shutil.rmtree(work)


def _run_npm(command: Sequence[str], folder: Path, sentence: str) -> None:
    environment = {**_make_certificate_environment(), **os.environ, 'NO_COLOR': '1'}
    run_tool(command, sentence, environment=environment, folder=folder)


def _make_certificate_environment() -> dict[str, str]:
    """A machine's own certificate store knows what its network needs; Node's own list does not."""
    return {'NODE_EXTRA_CA_CERTS': str(_STORE)} if _STORE.is_file() else {}


def _load_licences(modules: Path) -> Iterator[str]:
    """The notices that have to go along with the bundled libraries."""
    for name in _LIBRARIES:
        (licence,) = sorted((modules / name).glob('LICEN[CS]E*'))
        yield f'{name}\n\n{licence.read_text(encoding="utf-8").strip()}\n'
