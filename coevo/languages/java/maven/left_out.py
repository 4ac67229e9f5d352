"""Content that a tree refers to but a clone lacks: submodules, and files in Git LFS.

coevo fetches neither. The folder of a submodule is missing, and a file in LFS is replaced by its
pointer (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). If a build fails and its POMs
name such a path, this is reported as the reason, since no other JDK and no further try would help.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from xml.etree import ElementTree

from coevo.git.repository import Repository
from coevo.languages.builds import NEEDS_LFS_FILE, NEEDS_SUBMODULE

_POINTER = b'version https://git-lfs.github.com/spec/'
_POINTER_BYTES = 1024
_HERE = re.compile(r'(\$\{(project\.)?basedir\}/|\./)*')
# Elements whose text is an identifier, not a path; a module is often named like its folder.
_NAMES = frozenset({'artifactId', 'groupId', 'finalName', 'id', 'name', 'version', 'url'})


def find_missing_content_kind(
    repository: Repository, rev: str, module: str | None = None
) -> str | None:
    """Return the kind of content that a module needs but the clone lacks; None if there is none.

    The kind is a submodule or a file in Git LFS. A module needs it if its POM names the path, and a
    submodule also if it lies in the module's `src/main`. If `module` is None, all modules are
    examined.
    """
    submodules = repository.list_submodules(rev)
    lfs_files = tuple(_find_lfs_files(repository, rev))
    if not submodules and not lfs_files:
        return None
    modules = (
        _find_modules(repository, rev) if module is None else {'' if module == '.' else module}
    )
    if any(_find_module_by_main_path(path) in modules for path in submodules):
        return NEEDS_SUBMODULE
    places = {
        named_path
        for folder in modules
        for named_path in _find_paths_in_pom(repository, rev, folder)
    }
    for need, absent in ((NEEDS_SUBMODULE, submodules), (NEEDS_LFS_FILE, lfs_files)):
        if any(f'{named_path}/'.startswith(f'{path}/') for named_path in places for path in absent):
            return need
    return None


def _find_modules(repository: Repository, rev: str) -> set[str]:
    """Return the folders with a POM; '' stands for the root."""
    parts = (path.rpartition('/') for path in repository.tree(rev))
    return {folder for folder, _, name in parts if name == 'pom.xml'}


def _find_module_by_main_path(path: str) -> str | None:
    """Return the folder of the module whose `src/main` contains a path; None if there is none.

    Maven reads this folder by default. '' is the root.
    """
    module, main, _ = f'/{path}'.rpartition('/src/main/')
    return module.removeprefix('/') if main else None


def _find_paths_in_pom(repository: Repository, rev: str, folder: str) -> Iterator[str]:
    """Yield the text of each element of a module's POM as a normalised path in the tree.

    Elements that hold identifiers, such as `artifactId`, are left out. Nothing is yielded for a POM
    that is missing or cannot be parsed.
    """
    try:
        text = repository.load_text(rev, posixpath.join(folder, 'pom.xml')) or ''
        pom = ElementTree.fromstring(text)
    except (ElementTree.ParseError, ValueError):
        return
    for element in pom.iter():
        if element.tag.rpartition('}')[2] not in _NAMES and element.text:
            named_path = _HERE.sub('', element.text.strip(), count=1)
            yield posixpath.normpath(posixpath.join(folder, named_path))


def _find_lfs_files(repository: Repository, rev: str) -> Iterator[str]:
    """Yield the paths of files whose content is in Git LFS, recognised by their pointer text.

    No blob is read if no `.gitattributes` file mentions LFS.
    """
    tree = repository.tree(rev)
    attributes = [path for path in tree if posixpath.basename(path) == '.gitattributes']
    if not any('filter=lfs' in (repository.load_text(rev, path) or '') for path in attributes):
        return
    for path, size in repository.measure_sizes(rev).items():
        if size <= _POINTER_BYTES and repository.blob(tree[path].oid).startswith(_POINTER):
            yield path
