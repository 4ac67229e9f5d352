"""Why a revision is not built, whoever was to do it, and what no other JDK would cure."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.languages.java.building.report import JavaModule, name_failure
from coevo.languages.java.building.session import JvmAnswer, JvmDeath
from coevo.languages.java.maven.attempts import OF_THE_MODEL, SIBLING_NOT_PACKAGED
from coevo.languages.left_out import NEEDS_LFS_FILE, NEEDS_SUBMODULE
from coevo.model.reasons import LIBRARY_REASONS

# A tree that no sandbox of ours has room for.
TREE_TOO_LARGE = 'tree_too_large'

# A tree with a path that no file system of ours can hold.
PATH_TOO_LONG = 'path_too_long'

# A tree without a POM, or a script of Gradle's, at its root.
NO_BUILD_FILE = 'no_build_file'

# Nothing at hand builds what a revision's wrapper asks for.
GRADLE_MISSING = 'gradle_missing'

# How the failure of a revision begins whose builder died, the reason behind it.
_BUILDER_DIED = 'builder_'


def explain_failure(answer: JvmAnswer | JvmDeath, modules: Mapping[str, JavaModule]) -> str:
    """Why nothing of a revision was built."""
    if isinstance(answer, JvmDeath):
        return f'{_BUILDER_DIED}{answer.reason}'
    reasons = [module.failure for module in modules.values() if module.failure != 'skipped']
    failures = answer.report.get('failures') or [None]
    return next((reason for reason in reasons if reason), name_failure(failures[0]))


def fails_on_any_jdk(failure: str | None) -> bool:
    """Whether what failed fails on any JDK: a POM that cannot be read, a library that is gone,
    a tree that is too large or has no POM.

    So does, as far as anyone would wait for it, what took too long or killed its builder.
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
    """Whether a builder died of what it was to build."""
    return failure.startswith(_BUILDER_DIED)
