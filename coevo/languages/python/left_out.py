"""Whether what a module lacks lies in a submodule, which is not fetched.

A package that cannot be imported needs one if the missing module would lie in it, or a link leads there; C
extensions that cannot be built need one if what describes their build names its folder.
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
    """failure  what an import said, or why there are no extensions"""
    submodules = repository.submodules(module.rev)
    if not submodules:
        return False
    if of_extensions:
        return any(_names(text, module.folder, submodules) for text in _texts(repository, module))
    places = list(_places(repository, module, failure))
    return any(f'{place}/'.startswith(f'{path}/') for place in places for path in submodules)


def _places(repository: Repository, module: PythonModule, failure: str) -> Iterator[str]:
    """Where the missing module may lie, and where links on the way to it lead."""
    found = _MISSING.search(failure)
    if found is None:
        return
    tree = repository.tree(module.rev)
    for root in module.roots:
        place = posixpath.normpath(posixpath.join(root, found[1].replace('.', '/')))
        yield place
        for link in (place, f'{place}.py', posixpath.dirname(place)):
            entry = tree.get(link)
            if entry is not None and entry.mode == LINK:
                target = os.fsdecode(repository.blob(entry.oid))
                yield posixpath.normpath(posixpath.join(posixpath.dirname(link), target))


def _texts(repository: Repository, module: PythonModule) -> Iterator[str]:
    for name in BUILD_FILES:
        path = posixpath.normpath(posixpath.join(module.folder, name))
        yield repository.text(module.rev, path) or ''


def _names(text: str, folder: str, submodules: tuple[str, ...]) -> bool:
    """Whether a text has the path of a submodule, from the folder that it lies in."""
    places = (posixpath.relpath(path, folder) for path in submodules)
    return any(re.search(rf'(?<![\w-]){re.escape(place)}(?![\w-])', text) for place in places)
