"""A project's own C extensions, built in its tree in the sandbox and cached by their sources.

An extension that would replace a Python module of the tree is left out, since coevo mines, edits
and mutates source code. Files of Cython and C belong to the code, though coevo reads no
declarations in them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from coevo.languages.core.cell_files import find_stand_ins, require_unread
from coevo.languages.packed_files import pack_files
from coevo.languages.python.built import PythonModule
from coevo.languages.python.launch import PythonSetup, make_extension_job
from coevo.languages.python.run_context import PythonRunContext
from coevo.languages.python.wheels import (
    EARLIEST,
    classify_build_failure,
    install_build_packages,
    parse_build_system,
)
from coevo.storage import durable
from coevo.storage.disk import find_cache_folder

_ASKED = re.compile(rb'ext_modules|\bExtension\s*\(|\bcythonize\b|cffi_modules')
# mypyc compiles Python modules, which takes minutes, and the cache key does not cover these
# modules.
_OF_PYTHON = re.compile(rb'\bmypycify\b')
_NO_PART = ('.py', '.md', '.rst', '.yml', '.yaml')
_BYTES = 256 << 20

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
    setup = _load_file(context, module, 'setup.py')
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
        if _parse_output(output) is None:
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
    digest = hashlib.sha256(f'{module.installed.interpreter.version}\0{module.folder}'.encode())
    theirs = context.trees.list_test_paths(module.rev)
    for path, entry in sorted(context.repository.tree(module.rev).items()):
        is_part = not path.endswith(_NO_PART) or posixpath.basename(path) == 'setup.py'
        if is_part and path not in theirs:
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
    system = parse_build_system(_load_file(context, module, 'pyproject.toml'))
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
            output = process.stdout.read(_BYTES)
            process.stdin.close()
            process.wait()
            if _parse_output(output) is None:
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
    for name, content in _parse_output(said) or ():
        path = posixpath.normpath(prefix + name)
        folder, _, file = path.rpartition('/')
        stem = f'{folder}/{file.partition(".")[0]}'.lstrip('/')
        if not path.startswith(('../', '/')) and not {f'{stem}.py', path} & paths:
            yield path, content


def _parse_output(said: bytes) -> list[tuple[str, bytes]] | None:
    """Return the built files; None if the output of the builder is invalid."""
    try:
        rows = json.loads(said)
        return [(str(name), base64.b64decode(content, validate=True)) for name, content in rows]
    except (ValueError, TypeError):
        return None


def _load_file(context: PythonRunContext, module: PythonModule, name: str) -> bytes:
    path = str(Path(module.folder, name))
    entry = context.repository.tree(module.rev).get(path)
    return context.repository.blob(entry.oid) if entry is not None else b''
