"""How anybody runs tests of a start state with Go alone."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence

from coevo.languages.declarations import SourceFile
from coevo.languages.golang.names import run_pattern
from coevo.languages.golang.reading.tests import find_tests
from coevo.languages.reading import Tree
from coevo.model.environments import Environment
from coevo.model.records import TestMethod


def commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: Tree,
) -> Environment:
    """The environment with its two commands; without methods all tests of the file are run."""
    where = '' if module == '.' else f'cd {shlex.quote(module)} && '
    asked = methods or _all_of(tree.file(test_file), module, test_file)
    pattern = shlex.quote(run_pattern(asked))
    return dataclasses.replace(
        environment,
        compile_command=f'{where}go test -mod=mod -vet=off -count=1 -run ^$ .',
        test_command=f'{where}go test -mod=mod -vet=off -count=1 -run {pattern} .',
    )


def _all_of(file: SourceFile, module: str, path: str) -> list[TestMethod]:
    return [
        TestMethod(module=module, test_file=path, test_class=type_.name, test_method=member.name)
        for type_, member in find_tests(file, lambda simple: ())
    ]
