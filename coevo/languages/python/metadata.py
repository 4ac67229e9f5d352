"""The metadata of a project as its build backend writes it, where something may read them.

The backend runs in the sandbox, once for a revision. A project of which no file mentions metadata
gets its name, version and entry points alone (`layout.make_metadata_files`), as does one whose backend
fails.

A backend that asks Git for a version gets that of the project's newest release on the package index
as of the day. Git's tags would not do: a fetch for an evaluation has none of them, and a tag may be
added to an old commit at any time.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import InvalidVersion, Version

from coevo.languages.core.cell_files import find_stand_ins, require_unread
from coevo.languages.packed_files import pack_files
from coevo.languages.python.built import PythonModule
from coevo.languages.python.launch import PythonSetup, make_metadata_job
from coevo.languages.python.layout import make_metadata_files
from coevo.languages.python.package_index import IndexRefusal, get_machine_index
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.wheels import (
    EARLIEST,
    install_build_packages,
    parse_build_system,
    parse_upload_date,
    read_to_end,
)
from coevo.storage import durable
from coevo.storage.disk import find_cache_folder

_READS = re.compile(rb'importlib[._]metadata|pkg_resources|entry_points')
_LEGACY = 'setuptools.build_meta:__legacy__'
_BYTES = 4 << 20
_PATH = re.compile(r'[\w.+!-]+\.dist-info(/[\w.+ -]+)+', re.ASCII)
_LONGEST_WORD = 4096

Metadata = tuple[tuple[str, bytes], ...]


def build_metadata_with_cpu_seconds(
    context: PythonRunContext, module: PythonModule, when: datetime
) -> tuple[Metadata, float]:
    """Return the files of the .dist-info folder of a project, by path, and the CPU seconds.

    The project's backend writes them in the sandbox, unless this was done before. If nothing in the
    project reads metadata, or the backend fails, they are those of `layout.make_metadata_files`.

    when  the day as of which the backend is installed
    """
    plain = tuple(sorted(make_metadata_files(module.needs).items()))
    if not plain or not _may_read_metadata(context, module):
        return plain, 0.0
    day = max(when, EARLIEST).replace(hour=0, minute=0, second=0, microsecond=0)
    version = '0' if module.needs.version else find_newest_version_by(module.needs.name or '', day)
    key = hashlib.sha256(
        '\0'.join(
            (
                str(context.repository.header(module.rev).tree),
                module.folder,
                module.installed.interpreter.version,
                f'{day:%Y-%m-%d}',
                version,
                context.digest,
                context.sandbox.name,
            )
        ).encode(errors='surrogateescape')
    ).hexdigest()[:24]
    cached_file = find_cache_folder() / 'pythons/metadata' / key  # own name: a digest
    spent = 0.0
    if cached_file.is_file():
        output = cached_file.read_bytes()
    else:
        answer, spent = _run_backend_with_cpu_seconds(context, module, day, version)
        output = answer or b''
        if answer is not None:
            cached_file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            durable.write_durably(cached_file, [answer])
    files = dict(_parse_output(output))
    if not any(path.endswith('/METADATA') for path in files):
        return plain, spent
    folder = next(iter(files)).partition('/')[0]
    record = ''.join(f'{path},,\n' for path in (*sorted(files), f'{folder}/RECORD'))
    files |= {f'{folder}/RECORD': record.encode(), f'{folder}/INSTALLER': b'coevo\n'}
    return tuple(sorted(files.items())), spent


def _may_read_metadata(context: PythonRunContext, module: PythonModule) -> bool:
    """Return whether a Python file of the project mentions metadata, and so may read them."""
    files = context.trees.collect_cell_files(module.rev, module.rev, None)
    prefix = '' if module.folder == '.' else f'{module.folder}/'
    return any(
        path.startswith(prefix) and path.endswith('.py') and _READS.search(content)
        for path, (_, content) in files.items()
    )


def find_newest_version_by(name: str, day: datetime) -> str:
    """Return the version of a project's newest release that was uploaded by a day; 0 without one.

    A final release is preferred to a newer pre-release. A file that was yanked counts, since it may
    have been there on the day.

    Raises:
        Transient: the index cannot be reached
    """
    try:
        page = get_machine_index().get_page(0, canonicalize_name(name))
    except IndexRefusal:
        return '0'
    known = [Version('0')]
    for file in page.files.values():
        uploaded, version = parse_upload_date(file.uploaded), _parse_version(file.name)
        if uploaded is not None and uploaded <= day and version is not None:
            known.append(version)
    return str(max(known, key=lambda version: (not version.is_prerelease, version)))


def _parse_version(file_name: str) -> Version | None:
    """Return the version in the name of a wheel or source distribution; None for another file."""
    try:
        if file_name.endswith('.whl'):
            return parse_wheel_filename(file_name)[1]
        return parse_sdist_filename(file_name)[1]
    except (InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
        return None


def _run_backend_with_cpu_seconds(
    context: PythonRunContext, module: PythonModule, day: datetime, version: str
) -> tuple[bytes | None, float]:
    """Run the build backend of a project in the sandbox; return what it wrote, and the CPU seconds.

    The output is b'' if the backend cannot be run here, and None if it was ended by a limit: on a
    machine with less to do it may succeed.
    """
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
            output = read_to_end(process.stdout, _BYTES)
            if output is None:
                process.kill()
            process.wait()
            spent = process.get_cpu_seconds()
    finally:
        tree.unlink()
    if process.exceeded is not None:
        return None, spent
    if not output:
        require_unread(find_stand_ins(files), unread=False)
    return output or b'', spent


def _parse_output(said: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the files of one .dist-info folder; nothing if the output is invalid."""
    try:
        rows = [
            (str(path), base64.b64decode(content, validate=True))
            for path, content in json.loads(said)
        ]
    except (ValueError, TypeError, RecursionError):
        return
    folders = {path.partition('/')[0] for path, _ in rows}
    for path, content in rows:
        if len(folders) == 1 and _PATH.fullmatch(path) and '..' not in path:
            yield path, content
