"""Reasons why a revision cannot be built, and content that a tree refers to but a clone lacks."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from xml.etree import ElementTree

from coevo.git.repository import Repository
from coevo.languages.cells import NEEDS_LFS_FILE, NEEDS_SUBMODULE
from coevo.languages.java.building.report import JavaModule, name_failure
from coevo.languages.java.building.session import TOO_LONG, JvmAnswer, JvmDeath
from coevo.languages.java.maven.attempts import OF_THE_MODEL, SIBLING_NOT_PACKAGED
from coevo.languages.java.reading.project_files import classify_path
from coevo.languages.java.reading.syntax import MOST_BYTES, MOST_NESTED, parse
from coevo.languages.reading import Side
from coevo.languages.spans import may_nest_deeper
from coevo.model.reasons import LIBRARY_REASONS

# Reasons why no build tool can build a revision, and test files that no compiler gets, since their
# classes are nested too deeply.

# The tree exceeds the space of a sandbox.
TREE_TOO_LARGE = 'tree_too_large'

# The tree contains a path that is too long for the file system.
PATH_TOO_LONG = 'path_too_long'

# The tree has neither a POM nor a Gradle script at its root.
NO_BUILD_FILE = 'no_build_file'

# No available Gradle suits the version that the revision's wrapper names.
GRADLE_MISSING = 'gradle_missing'

# Prefix of the failure of a revision whose builder died; the reason follows.
_BUILDER_DIED = 'builder_'


def explain_failure(answer: JvmAnswer | JvmDeath, modules: Mapping[str, JavaModule]) -> str:
    """Return why a revision was not built: the builder's death, or a module's or Maven's failure.

    The first failure of a module counts; `skipped` modules have none of their own.
    """
    if isinstance(answer, JvmDeath):
        return f'{_BUILDER_DIED}{answer.reason}'
    reasons = [module.failure for module in modules.values() if module.failure != 'skipped']
    failures = answer.report.get('failures') or [None]
    return next((reason for reason in reasons if reason), name_failure(failures[0]))


def fails_on_any_jdk(failure: str | None) -> bool:
    """Return whether a build would fail in this way with every JDK; False for None.

    Examples are an unreadable POM, a library that no longer exists, and a tree that is too large. A
    builder that took too long or died counts too, since further tries would cost too much.
    """
    if failure is None:
        return False
    known = (
        *OF_THE_MODEL,
        *LIBRARY_REASONS,
        SIBLING_NOT_PACKAGED,
        TREE_TOO_LARGE,
        PATH_TOO_LONG,
        NO_BUILD_FILE,
        GRADLE_MISSING,
        NEEDS_SUBMODULE,
        NEEDS_LFS_FILE,
    )
    return failure in known or is_builder_death(failure)


def is_builder_death(failure: str) -> bool:
    """Return whether a failure means that the builder died on the revision."""
    return failure.startswith(_BUILDER_DIED)


def is_build_timeout(failure: str) -> bool:
    """Return whether a failure means that the build used up its wall or CPU time."""
    return is_builder_death(failure) and failure.removeprefix(_BUILDER_DIED) in TOO_LONG


# Find test files whose classes are nested too deeply; no compiler gets them.
#
# javac takes time cubic in the nesting depth before it reports that a class name is too long: a
# depth of 1,500 takes hours, and nothing else of the module would be compiled.

_SUFFIX = '.java'


def find_too_nested_tests(repository: Repository, rev: str) -> frozenset[str]:
    """Return the paths of a revision's Java test files whose classes are nested too deeply.

    Files that are merely too long are not included: compiling them takes time linear in their
    length.
    """
    return frozenset(
        path
        for path, entry in repository.tree(rev).items()
        if path.endswith(_SUFFIX)
        and _is_test_source(path)
        and _is_too_deeply_nested(repository.blob(entry.oid))
    )


def name_test_class(path: str) -> str:
    """Return the qualified class name that the path of a test file implies."""
    placement = classify_path(path)
    assert placement is not None, 'it is a test file'
    inner = placement.relative.partition('/')[2]  # drop the folder of the programming language
    return inner.removesuffix(_SUFFIX).replace('/', '.')


def _is_test_source(path: str) -> bool:
    placement = classify_path(path)
    return placement is not None and placement.side is Side.TEST and not placement.is_resource


def _is_too_deeply_nested(content: bytes) -> bool:
    short = len(content) <= MOST_BYTES
    return short and may_nest_deeper(content, MOST_NESTED) and parse(content).unreadable


# Content that a tree refers to but a clone lacks: submodules, and files in Git LFS.
#
# coevo fetches neither. The folder of a submodule is missing, and a file in LFS is replaced by its
# pointer (https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md). If a build fails and its POMs
# name such a path, this is reported as the reason, since no other JDK and no further try would
# help.

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
