"""Reasons why no build tool can build a revision, and which of them do not depend on the JDK."""

from __future__ import annotations

from collections.abc import Mapping

from coevo.languages.java.building.report import JavaModule, name_failure
from coevo.languages.java.building.session import JvmAnswer, JvmDeath
from coevo.languages.java.maven.attempts import OF_THE_MODEL, SIBLING_NOT_PACKAGED
from coevo.languages.left_out import NEEDS_LFS_FILE, NEEDS_SUBMODULE
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
