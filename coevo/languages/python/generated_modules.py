"""Python modules that a project's own build generates, such as a parser made of a grammar.

A checkout lacks them, and without them the project's package cannot be imported. The build backend
makes a wheel of the tree in the sandbox, as an installation would. Modules of the wheel that the
tree lacks are added to the tree of each run. They belong to no revision: nothing is read, edited or
mutated in them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from datetime import datetime

from coevo.languages.python.built import PythonModule
from coevo.languages.python.launch import make_module_job
from coevo.languages.python.missing_modules import find_missing_own_modules
from coevo.languages.python.project_builds import (
    Files,
    choose_build_day,
    digest_code_files,
    load_or_run_backend_with_cpu_seconds,
    load_project_file,
    parse_files,
)
from coevo.languages.python.run_context import PythonRunContext
from coevo.storage.disk import find_cache_folder

_MOST_BYTES = 64 << 20
_PATH = re.compile(r'(?:[A-Za-z_]\w*/)*[A-Za-z_]\w*\.py', re.ASCII)
_NO_PART = ('.md', '.rst')
# What a module can be, or be compiled from.
_IMPORTABLE = ('.py', '.so', '.pyd', '.pyx', '.c', '.cc', '.cpp', '.rs')
# Backends that compile extensions, which takes minutes; they generate no Python modules.
_COMPILING = re.compile(rb'mesonpy|scikit_build_core|skbuild|maturin|setuptools.rust')


def lacks_modules(context: PythonRunContext, module: PythonModule, *, needed: bool) -> bool:
    """Return whether the project's tests import modules of its own packages that no file is.

    Modules that coevo writes itself, and extensions that it builds, are not lacking.

    needed  whether only imports count without which a file cannot be loaded
    """
    missing = find_missing_own_modules(context.repository, module.rev, module.folder, module.tops)
    paths = (
        *context.repository.tree(module.rev),
        *(path for path, _ in (*module.written, *module.compiled)),
    )
    stems = {f'/{path}'.partition('.')[0] for path in paths if path.endswith(_IMPORTABLE)}
    return any(
        not _has_source(name, stems)
        for name, is_needed in missing.needed.items()
        if is_needed or not needed
    )


def _has_source(name: str, stems: Collection[str]) -> bool:
    """Return whether a file has the path of a module, or of the module that a name is taken from.

    Example: `pkg.fast.dot` is in `src/pkg/fast.pyx`.
    """
    places = (name.replace('.', '/'), name.rpartition('.')[0].replace('.', '/'))
    return any(stem.endswith(tuple(f'/{place}' for place in places)) for stem in stems)


def build_generated_modules(
    context: PythonRunContext, module: PythonModule, when: datetime
) -> tuple[Files, float]:
    """Return the modules that the build of a project generates, by path, and the CPU seconds.

    The build runs in the sandbox, unless this was done before. () if it fails.

    when  the day as of which the backend is installed

    Raises: CorruptObject if it failed, maybe since the clone lacks the content of a file.
    """
    if _COMPILING.search(load_project_file(context, module, 'pyproject.toml')):
        return (), 0.0
    day = choose_build_day(when)
    cached_file = (
        find_cache_folder() / 'pythons/generated' / _compute_cache_key(context, module, day)
    )  # own name: a digest
    output, spent = load_or_run_backend_with_cpu_seconds(
        cached_file, context, module, day, '0', make_module_job, _MOST_BYTES
    )
    return tuple(_select_generated_modules(context, module, output)), spent


def _compute_cache_key(context: PythonRunContext, module: PythonModule, day: datetime) -> str:
    """Return a digest of what a build depends on: tools, and all files but tests and texts."""
    words = (module.installed.interpreter.version, module.folder, f'{day:%Y-%m-%d}', context.digest)
    return digest_code_files(context, module.rev, words, lambda path: not path.endswith(_NO_PART))


def _select_generated_modules(
    context: PythonRunContext, module: PythonModule, output: bytes
) -> Iterator[tuple[str, bytes]]:
    """Yield the modules of a wheel that the tree lacks and that lie in one of its own packages.

    Each gets its path in the tree: below the first root that has its package.
    """
    paths = context.repository.tree(module.rev).keys()
    tests = context.trees.list_test_paths(module.rev)
    for name, content in parse_files(output) or ():
        top = name.partition('/')[0]
        places = [f'{root}/{name}' if root != '.' else name for root in module.roots]
        if top not in module.tops or not _PATH.fullmatch(name) or any(p in paths for p in places):
            continue
        for root, place in zip(module.roots, places, strict=True):
            package = f'{root}/{top}/' if root != '.' else f'{top}/'
            if any(path.startswith(package) and path not in tests for path in paths):
                yield place, content
                break
