"""How anybody runs tests of a start state with Go alone."""

from __future__ import annotations

import dataclasses
import posixpath
import shlex
from collections.abc import Sequence

from coevo.languages.declarations import SourceFile
from coevo.languages.golang.names import run_pattern
from coevo.languages.golang.reading.layout import GO_MOD
from coevo.languages.golang.reading.layout import GO_WORK
from coevo.languages.golang.reading.module_paths import owner_of
from coevo.languages.golang.reading.tests import find_tests
from coevo.languages.golang.reading.workspaces import replaced
from coevo.languages.reading import Tree
from coevo.model.environments import Environment
from coevo.model.records import TestMethod

# What stands behind the part of a command that has tests of a module run at all.
_OPTIONS = ' -vet=off'


def commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: Tree,
) -> Environment:
    """The environment with its two commands; without methods all tests of the file are run."""
    where = '' if module == '.' else f'cd {shlex.quote(module)} && '
    test = f'{where}{_go_test(module, tree)}{_OPTIONS} -count=1'
    asked = methods or _all_of(tree.file(test_file), module, test_file)
    pattern = shlex.quote(run_pattern(asked))
    return dataclasses.replace(
        environment,
        compile_command=f'{test} -run ^$ .',
        test_command=f'{test} -run {pattern} .',
    )


def _go_test(module: str, tree: Tree) -> str:
    """In a workspace with a go.mod of its own, beside the tree, that says what the workspace does."""
    if GO_WORK not in tree.entries:
        return 'go test -mod=mod'
    texts = {path: tree.content(path) for path in tree.entries if path.rpartition('/')[2] == GO_MOD}
    folders = {posixpath.dirname(path) or '.' for path in texts}
    beside = replaced(owner_of(module, folders), texts, tree.content(GO_WORK))
    if not beside:
        return 'GOWORK=off go test -mod=mod'
    edits = ' '.join(shlex.quote(f'-replace={path}={place}') for path, place in beside)
    return (
        'd=$(mktemp -d) && r=$(dirname "$(GOWORK=off go env GOMOD)") && cp "$r"/go.* $d && '
        f'go mod edit {edits} $d/go.mod && GOWORK=off go test -mod=mod -modfile=$d/go.mod'
    )


def beginning(module: str, environment: Environment | None) -> str:
    """How tests of a module are begun, as `commands` has told; as outside of a workspace where it has not."""
    if environment is not None and environment.test_command:
        return environment.test_command.partition(_OPTIONS)[0]
    return 'go test -mod=mod' if module == '.' else f'cd {module} && go test -mod=mod'


def _all_of(file: SourceFile, module: str, path: str) -> list[TestMethod]:
    return [
        TestMethod(module=module, test_file=path, test_class=type_.name, test_method=member.name)
        for type_, member in find_tests(file, lambda simple: ())
    ]
