"""Gradle commands with which anyone can run the tests of a start state."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.java.gradle.attempts import NAME
from coevo.model.environments import Environment
from coevo.model.records import TestMethod


def is_built_by_gradle(environment: Environment | None) -> bool:
    """Return whether an environment names Gradle as its build tool; False for None."""
    return environment is not None and environment.build_tool.startswith(NAME)


def make_gradle_command(module: str, task: str) -> tuple[str, ...]:
    """Return the command for a task of one project.

    The task of the root has a leading `:`, since its bare name would run it in every project.
    """
    if module == '.':
        return ('gradle', f':{task}')
    return ('gradle', '-p', module, task)


def make_test_selection(methods: Sequence[TestMethod]) -> tuple[str, ...]:
    """Return Gradle's `--tests` options that select test methods; empty without methods.

    Gradle selects by name only, so a name covers all overloads and parameter sets.
    """
    names = dict.fromkeys(f'{method.test_class}.{method.test_method}' for method in methods)
    return tuple(word for name in names for word in ('--tests', name))
