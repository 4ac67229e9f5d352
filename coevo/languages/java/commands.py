"""How anybody runs tests of a start state with Maven, without coevo.

Surefire is named with its version: that of an old project may know no JUnit 5, no nested class, no parameters.
Plugins that judge the text of a change have no say, as in a cell.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from coevo.model.records import Environment
from coevo.model.records import TestMethod

SUREFIRE = 'org.apache.maven.plugins:maven-surefire-plugin:3.5.2:test'
# Those that come before tests are compiled; there is no one name for all.
CHECKS = ('checkstyle', 'enforcer', 'license', 'rat')
_SKIPS = tuple(f'-D{name}.skip' for name in CHECKS)


def commands(
    environment: Environment, module: str, test_file: str, methods: Sequence[TestMethod]
) -> Environment:
    """The environment with its two commands; without methods all tests of the file are run."""
    maven = ('mvn', '-B', *_of_module(module), *_SKIPS, 'test-compile')
    selected = ','.join(_by_class(methods)) or PurePosixPath(test_file).stem
    test = (*maven, SUREFIRE, f'-Dtest={selected}', _absent(module))
    return dataclasses.replace(
        environment, compile_command=shlex.join(maven), test_command=shlex.join(test)
    )


def _of_module(module: str) -> tuple[str, ...]:
    """With the modules that it needs, which no repository may have."""
    return () if module == '.' else ('-pl', module, '-am')


def _absent(module: str) -> str:
    """Nothing that was asked for being there is a failure, but in the modules that it needs."""
    if module == '.':
        return '-DfailIfNoTests=true'
    return '-Dsurefire.failIfNoSpecifiedTests=false'


def _by_class(methods: Sequence[TestMethod]) -> list[str]:
    """`CLASS#a+b`; a parameterized method of JUnit 4 is one for each of its parameters, `a[0]`."""
    names: dict[str, dict[str, None]] = {}
    for method in methods:
        names.setdefault(method.test_class, {})[method.test_method] = None
    return [
        f'{owner}#{"+".join(f"{name}+{name}[*" for name in found)}'
        for owner, found in names.items()
    ]
