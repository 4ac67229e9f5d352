"""How anybody runs tests of a start state with Gradle alone."""

from __future__ import annotations

from collections.abc import Sequence

from coevo.languages.java.gradle.attempts import NAME
from coevo.model.environments import Environment
from coevo.model.records import TestMethod


def is_built_by_gradle(environment: Environment | None) -> bool:
    return environment is not None and environment.build_tool.startswith(NAME)


def make_gradle_command(module: str, task: str) -> tuple[str, ...]:
    """A task of one project; that of the root by its path, since by its name it is everybody's."""
    if module == '.':
        return ('gradle', f':{task}')
    return ('gradle', '-p', module, task)


def make_test_selection(methods: Sequence[TestMethod]) -> tuple[str, ...]:
    """Gradle knows methods by their names alone, overloads and parameters under one."""
    names = dict.fromkeys(f'{method.test_class}.{method.test_method}' for method in methods)
    return tuple(word for name in names for word in ('--tests', name))
