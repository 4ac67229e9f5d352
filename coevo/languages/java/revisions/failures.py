"""Reasons why no build tool can build a revision, and test files that no compiler gets, since their
classes are nested too deeply.
"""

from __future__ import annotations

from collections.abc import Mapping

from coevo.git.repository import Repository
from coevo.languages.builds import NEEDS_LFS_FILE, NEEDS_SUBMODULE
from coevo.languages.java.building.report import JavaModule, name_failure
from coevo.languages.java.building.session import TOO_LONG, JvmAnswer, JvmDeath
from coevo.languages.java.maven.attempts import OF_THE_MODEL, SIBLING_NOT_PACKAGED
from coevo.languages.java.reading.standard_folders import classify_path
from coevo.languages.java.reading.syntax import MOST_BYTES, MOST_NESTED, parse
from coevo.languages.layout import Side
from coevo.languages.spans import may_nest_deeper
from coevo.model.reasons import LIBRARY_REASONS

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
