"""Decide whether a failure is due to a submodule, since submodules are not fetched.

A package that cannot be imported needs one if the missing module or the target of a link would be
in it. C extensions that cannot be built need one if a build file mentions its folder.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator

from coevo.git.objects import LINK
from coevo.git.repository import Repository
from coevo.languages.python.built import PythonModule
from coevo.languages.python.requirements.reading import BUILD_FILES

_MISSING = re.compile(r'ModuleNotFoundError@([\w.]+)')


def needs_submodule(
    repository: Repository, module: PythonModule, failure: str, *, of_extensions: bool
) -> bool:
    """Return whether a failed module would need files of a submodule, which coevo does not fetch.

    failure        the error of the import, or why there are no extensions
    of_extensions  whether the build of its C extensions failed, not its import
    """
    submodules = repository.list_submodules(module.rev)
    if not submodules:
        return False
    if of_extensions:
        return any(
            _names_submodule(text, module.folder, submodules)
            for text in _load_build_files(repository, module)
        )
    places = list(_find_module_paths(repository, module, failure))
    return any(
        f'{candidate}/'.startswith(f'{path}/') for candidate in places for path in submodules
    )


def _find_module_paths(repository: Repository, module: PythonModule, failure: str) -> Iterator[str]:
    """Yield the paths that the missing module may have, and the targets of links on the way to it.

    Nothing is yielded if the failure names no missing module.
    """
    match = _MISSING.search(failure)
    if match is None:
        return
    tree = repository.tree(module.rev)
    for root in module.roots:
        path = posixpath.normpath(posixpath.join(root, match[1].replace('.', '/')))
        yield path
        for link in (path, f'{path}.py', posixpath.dirname(path)):
            entry = tree.get(link)
            if entry is not None and entry.mode == LINK:
                target = os.fsdecode(repository.blob(entry.oid))
                yield posixpath.normpath(posixpath.join(posixpath.dirname(link), target))


def _load_build_files(repository: Repository, module: PythonModule) -> Iterator[str]:
    for name in BUILD_FILES:
        path = posixpath.normpath(posixpath.join(module.folder, name))
        yield repository.load_text(module.rev, path) or ''


def _names_submodule(text: str, folder: str, submodules: tuple[str, ...]) -> bool:
    """Return whether a text contains the path of a submodule relative to `folder`."""
    places = (posixpath.relpath(path, folder) for path in submodules)
    return any(re.search(rf'(?<![\w-]){re.escape(relative)}(?![\w-])', text) for relative in places)
