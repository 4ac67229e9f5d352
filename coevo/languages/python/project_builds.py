"""The results of a project's own build in the sandbox: its metadata and its C extensions."""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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

from coevo.languages.core.cell_files import find_stand_ins, pack_files, require_unread
from coevo.languages.python.built import PythonModule
from coevo.languages.python.launch import PythonSetup, make_extension_job, make_metadata_job
from coevo.languages.python.layout import make_metadata_files
from coevo.languages.python.package_index import IndexRefusal, get_machine_index
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.wheels import (
    EARLIEST,
    classify_build_failure,
    install_build_packages,
    parse_build_system,
    parse_upload_date,
    read_to_end,
)
from coevo.sandboxes.sandbox import Job
from coevo.storage import durable
from coevo.storage.disk import find_cache_folder

# The metadata of a project as its build backend writes it, where something may read them.
#
# The backend runs in the sandbox, once for a revision. A project of which no file mentions metadata
# gets its name, version and entry points alone (`layout.make_metadata_files`), as does one whose
# backend fails.
#
# A backend that asks Git for a version gets that of the project's newest release on the package
# index as of the day. Git's tags would not do: a fetch for an evaluation has none of them, and a
# tag may be added to an old commit at any time.

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
    day = choose_build_day(when)
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
    output, spent = load_or_run_backend_with_cpu_seconds(
        cached_file, context, module, day, version, make_metadata_job
    )
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


MakeJob = Callable[[PythonSetup, Path, str, Sequence[str], str], Job]
"""Returns the job of a backend; see `launch.make_metadata_job`."""


def choose_build_day(when: datetime) -> datetime:
    """Return the day as of which a backend is installed: the given one, or the earliest possible."""
    return max(when, EARLIEST).replace(hour=0, minute=0, second=0, microsecond=0)


def load_or_run_backend_with_cpu_seconds(
    cached_file: Path,
    context: PythonRunContext,
    module: PythonModule,
    day: datetime,
    version: str,
    make_job: MakeJob,
    most_bytes: int = _BYTES,
) -> tuple[bytes, float]:
    """Return what the build backend of a project wrote, and the CPU seconds.

    The output is that in `cached_file`, if the backend ran before; otherwise it runs in the sandbox
    and the file is written, unless a limit ended it. b'' if there is none.

    day         as of which the backend is installed
    version     for a backend that asks Git
    most_bytes  longer output counts as none

    Raises: CorruptObject if it failed, maybe since the clone lacks the content of a file.
    """
    if cached_file.is_file():
        return cached_file.read_bytes(), 0.0
    answer, spent = _run_backend_with_cpu_seconds(
        context, module, day, version, make_job, most_bytes
    )
    if answer is not None:
        cached_file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        durable.write_durably(cached_file, [answer])
    return answer or b'', spent


def _run_backend_with_cpu_seconds(
    context: PythonRunContext,
    module: PythonModule,
    day: datetime,
    version: str,
    make_job: MakeJob,
    most_bytes: int,
) -> tuple[bytes | None, float]:
    """Run the build backend of a project in the sandbox; return what it wrote, and the CPU seconds.

    The output is b'' if the backend cannot be run here, fails, or writes more than `most_bytes`. It
    is None if the backend was ended by a limit: on a machine with less to do it may succeed.
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
        {f'tree/{path}': entry for path, entry in files.items()}, context.root / 'backend'
    )
    setup = PythonSetup(installed=packages, programs=context.programs)
    try:
        with context.sandbox.start(
            make_job(setup, tree, module.folder, [backend, *paths], version)
        ) as process:
            process.stdin.close()
            output = read_to_end(process.stdout, most_bytes)
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
    rows = parse_files(said) or []
    folders = {path.partition('/')[0] for path, _ in rows}
    for path, content in rows:
        if len(folders) == 1 and _PATH.fullmatch(path) and '..' not in path:
            yield path, content


# A project's own C extensions, built in its tree in the sandbox and cached by their sources.
#
# An extension that would replace a Python module of the tree is left out, since coevo mines, edits
# and mutates source code. Files of Cython and C belong to the code, though coevo reads no
# declarations in them.

_ASKED = re.compile(rb'ext_modules|\bExtension\s*\(|\bcythonize\b|cffi_modules')
# mypyc compiles Python modules, which takes minutes, and the cache key does not cover these
# modules.
_OF_PYTHON = re.compile(rb'\bmypycify\b')
_NO_PART = ('.py', '.md', '.rst', '.yml', '.yaml')
_MOST_EXTENSION_BYTES = 256 << 20

Files = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extensions:
    """The built extensions of a module.

    files    by path from the root
    failure  why they could not be built; None if they were, or if there are none
    """

    files: Files = ()
    failure: str | None = None
    cpu_seconds: float = 0.0


def build_extensions(context: PythonRunContext, module: PythonModule, when: datetime) -> Extensions:
    """Build the C extensions of a module in the sandbox, or return those that were built before.

    Empty if its `setup.py` states none, or only Python modules for mypyc to compile.

    when  the day as of which the tools of the build are chosen
    """
    setup = load_project_file(context, module, 'setup.py')
    if not _ASKED.search(setup) or _OF_PYTHON.search(setup):
        return Extensions()
    cached_file = (
        find_cache_folder() / 'pythons/extensions' / _compute_cache_key(context, module)
    )  # own name: a digest
    spent = 0.0
    if cached_file.is_file():
        output = cached_file.read_bytes()
    else:
        output, noise, spent = _run_builder_with_cpu_seconds(context, module, setup, when)
        if parse_files(output) is None:
            return Extensions(failure=classify_build_failure(noise), cpu_seconds=spent)
        cached_file.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        durable.write_durably(cached_file, [output])
    return Extensions(
        files=tuple(_select_usable_extensions(context, module, output)), cpu_seconds=spent
    )


def _compute_cache_key(context: PythonRunContext, module: PythonModule) -> str:
    """Return the key of a build in the cache: a digest of all that it depends on.

    This is the interpreter, the folder, and all files of the code but Python sources and texts;
    `setup.py` counts.
    """

    def is_part(path: str) -> bool:
        """Return whether a file of the code may change what is compiled."""
        return not path.endswith(_NO_PART) or posixpath.basename(path) == 'setup.py'

    words = (module.installed.interpreter.version, module.folder)
    return digest_code_files(context, module.rev, words, is_part)


def digest_code_files(
    context: PythonRunContext,
    rev: str,
    words: Sequence[str],
    is_part: Callable[[str], bool],
) -> str:
    """Return a digest of some words and of those files of the code whose paths are a part."""
    digest = hashlib.sha256('\0'.join(words).encode())
    tests = context.trees.list_test_paths(rev)
    for path, entry in sorted(context.repository.tree(rev).items()):
        if path not in tests and is_part(path):
            digest.update(f'\0{path}\0{entry.oid}'.encode(errors='surrogateescape'))
    return digest.hexdigest()[:24]


def _run_builder_with_cpu_seconds(
    context: PythonRunContext, module: PythonModule, setup: bytes, when: datetime
) -> tuple[bytes, str, float]:
    """Build in the sandbox; return the output of the builder, its standard error, and CPU seconds.

    Nothing is run, and the output is empty, if the packages for the build cannot be installed.

    Raises:
        CorruptObject: it failed, maybe since the clone lacks the content of a file.
    """
    interpreter = module.installed.interpreter
    system = parse_build_system(load_project_file(context, module, 'pyproject.toml'))
    system['requires'] = [*(system.get('requires') or ()), *module.needs.runtime]
    packages = install_build_packages(
        system, setup, max(when, EARLIEST), interpreter, context.sandbox
    )
    if packages is None:
        return b'', '', 0.0
    files = context.trees.collect_cell_files(module.rev, module.rev, None)
    files |= {path: ('100644', content) for path, content in module.written if path not in files}
    tree = pack_files(
        {f'tree/{path}': entry for path, entry in files.items()}, context.root / 'extensions'
    )
    chosen = make_extension_job(
        PythonSetup(installed=packages, programs=context.programs), tree, module.folder
    )
    try:
        with context.sandbox.start(chosen) as process:
            output = process.stdout.read(_MOST_EXTENSION_BYTES)
            process.stdin.close()
            process.wait()
            if parse_files(output) is None:
                require_unread(find_stand_ins(files), unread=False)
            return output, process.get_last_error_output(), process.get_cpu_seconds()
    finally:
        tree.unlink()


def _select_usable_extensions(
    context: PythonRunContext, module: PythonModule, said: bytes
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of those built files that hide no module of the tree and lie in it."""
    paths = context.repository.tree(module.rev).keys()
    prefix = '' if module.folder == '.' else f'{module.folder}/'
    for name, content in parse_files(said) or ():
        path = posixpath.normpath(prefix + name)
        folder, _, file = path.rpartition('/')
        stem = f'{folder}/{file.partition(".")[0]}'.lstrip('/')
        if not path.startswith(('../', '/')) and not {f'{stem}.py', path} & paths:
            yield path, content


def parse_files(output: bytes) -> list[tuple[str, bytes]] | None:
    """Return the files that a builder wrote: path and content; None if its output is invalid."""
    try:
        return [
            (str(path), base64.b64decode(content, validate=True))
            for path, content in json.loads(output)
        ]
    except (ValueError, TypeError, RecursionError):
        return None


def load_project_file(context: PythonRunContext, module: PythonModule, name: str) -> bytes:
    """Return the content of a file in the folder of a project; b'' if there is none."""
    path = str(Path(module.folder, name))
    entry = context.repository.tree(module.rev).get(path)
    return context.repository.blob(entry.oid) if entry is not None else b''
