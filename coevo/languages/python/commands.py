"""How anybody runs tests of a start state with uv and pytest, without coevo."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence

from coevo.languages.declarations import DeclaredType
from coevo.languages.python.names import in_module
from coevo.languages.python.names import pytest_id
from coevo.languages.python.reading.tests import is_collected
from coevo.languages.reading import Tree
from coevo.languages.runners import runners
from coevo.model.environments import Environment
from coevo.model.records import TestMethod

# A start state has no tags, from which such a project would take its version.
_VERSIONS = 'SETUPTOOLS_SCM_PRETEND_VERSION=0 PBR_VERSION=0 PDM_BUILD_SCM_VERSION=0'


def commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: Tree,
) -> Environment:
    """The environment with its two commands; without methods all tests of the file are run."""
    folder = '' if module == '.' else f'cd {shlex.quote(module)} && '
    feature = '.'.join(environment.runtime.split('.')[:2])
    packages = shlex.join(one.coordinates for one in environment.libraries)
    file = in_module(module, test_file)

    def is_run(path: str, type_: DeclaredType) -> bool:
        return is_collected(
            tree.file(path), type_, lambda name: (one.type for one in tree.resolve(path, name))
        )

    asked = [one for method in methods for one in runners(tree, method, is_run)]
    tests = shlex.join(dict.fromkeys(map(pytest_id, asked)) or (file,))
    return dataclasses.replace(
        environment,
        compile_command=f'{folder}uv venv --quiet --python {feature} .venv'
        f' && uv pip install --quiet --no-deps {packages}'
        f' && {_VERSIONS} uv pip install --quiet --no-deps --editable .',
        test_command=f'{folder}.venv/bin/python -m pytest -o addopts= {tests}',
    )
