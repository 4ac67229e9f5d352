"""The metadata of a project as its build backend writes it, where something may read them.

The backend runs in the sandbox, once for a revision. A project of which no file mentions metadata gets
its name, version and entry points alone (`layout.make_metadata`), as does one whose backend fails.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from packaging.version import Version

from coevo.git.repository import Repository
from coevo.languages.packed_files import pack_files
from coevo.languages.python.built import PythonModule
from coevo.languages.python.launch import PythonSetup, make_metadata_job
from coevo.languages.python.layout import make_metadata
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.wheels import EARLIEST, install_build_packages, parse_build_system
from coevo.model.errors import Fatal
from coevo.storage import durable
from coevo.storage.folders import find_cache_folder

_READS = re.compile(rb'importlib[._]metadata|pkg_resources|entry_points')
_LEGACY = 'setuptools.build_meta:__legacy__'
_BYTES = 4 << 20
_PATH = re.compile(r'[\w.+!-]+\.dist-info(/[\w.+ -]+)+', re.ASCII)
_LONGEST_WORD = 4096
_BEFORE_VERSION = re.compile(r'^[^\d]*')

Metadata = tuple[tuple[str, bytes], ...]


def build_metadata(
    context: PythonRunContext, module: PythonModule, when: datetime
) -> tuple[Metadata, float]:
    """Return the files of the .dist-info folder of a project, and the CPU seconds.

    when  the day as of which the backend is installed
    """
    plain = tuple(sorted(make_metadata(module.needs).items()))
    if not plain or not _is_read(context, module):
        return plain, 0.0
    day = max(when, EARLIEST)
    version = _find_tagged_version(context.repository, module.rev)
    key = hashlib.sha256(
        '\0'.join(
            (
                str(context.repository.header(module.rev).tree),
                module.folder,
                module.installed.interpreter.version,
                f'{day:%Y-%m-%d}',
                version,
            )
        ).encode()
    ).hexdigest()[:24]
    cached_file = find_cache_folder() / 'pythons/metadata' / key  # own name: a digest
    spent = 0.0
    if cached_file.is_file():
        output = cached_file.read_bytes()
    else:
        output, spent = _run_backend(context, module, day, version)
        cached_file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        durable.write_durably(cached_file, [output])
    files = dict(_parse_output(output))
    if not any(path.endswith('/METADATA') for path in files):
        return plain, spent
    folder = next(iter(files)).partition('/')[0]
    record = ''.join(f'{path},,\n' for path in (*sorted(files), f'{folder}/RECORD'))
    files |= {f'{folder}/RECORD': record.encode(), f'{folder}/INSTALLER': b'coevo\n'}
    return tuple(sorted(files.items())), spent


def _is_read(context: PythonRunContext, module: PythonModule) -> bool:
    """Return whether a file of the project may read its metadata."""
    files = context.trees.collect_cell_files(module.rev, module.rev, None)
    prefix = '' if module.folder == '.' else f'{module.folder}/'
    return any(
        path.startswith(prefix) and path.endswith('.py') and _READS.search(content)
        for path, (_, content) in files.items()
    )


def _find_tagged_version(repository: Repository, rev: str) -> str:
    """Return the version of the nearest tag of a revision; 0 without one."""
    try:
        tag = repository.run_command('describe', '--tags', '--abbrev=0', rev).decode().strip()
        return str(Version(_BEFORE_VERSION.sub('', tag)))
    except (Fatal, ValueError):
        return '0'


def _run_backend(
    context: PythonRunContext, module: PythonModule, day: datetime, version: str
) -> tuple[bytes, float]:
    """Return what the backend wrote, and the CPU seconds; b'' if it cannot be run."""
    repository, rev = context.repository, module.rev
    texts = [
        repository.load_text(rev, str(Path(module.folder, name))) or ''
        for name in ('pyproject.toml', 'setup.py')
    ]
    system = parse_build_system(texts[0].encode(errors='surrogateescape'))
    packages = install_build_packages(
        system,
        texts[1].encode(errors='surrogateescape'),
        day,
        module.installed.interpreter,
        context.sandbox,
    )
    if packages is None:
        return b'', 0.0
    backend = str(system.get('build-backend') or _LEGACY)
    paths = [path for path in system.get('backend-path') or () if isinstance(path, str)]
    if any('\0' in word or len(word) > _LONGEST_WORD for word in (backend, *paths)):
        return b'', 0.0
    files = context.trees.collect_cell_files(rev, rev, None)
    tree = pack_files(
        {f'tree/{path}': entry for path, entry in files.items()}, context.root / 'metadata'
    )
    setup = PythonSetup(installed=packages, programs=context.programs)
    try:
        with context.sandbox.start(
            make_metadata_job(setup, tree, module.folder, [backend, *paths], version)
        ) as process:
            process.stdin.close()
            output = process.stdout.read(_BYTES + 1)
            process.wait()
            spent = process.get_cpu_seconds()
    finally:
        tree.unlink()
    return (output if len(output) <= _BYTES else b''), spent


def _parse_output(said: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of one .dist-info folder; nothing if the output is invalid."""
    try:
        rows = [
            (str(path), base64.b64decode(content, validate=True))
            for path, content in json.loads(said)
        ]
    except (ValueError, TypeError):
        return
    folders = {path.partition('/')[0] for path, _ in rows}
    for path, content in rows:
        if len(folders) == 1 and _PATH.fullmatch(path) and '..' not in path:
            yield path, content
