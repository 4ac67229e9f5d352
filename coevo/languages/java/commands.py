"""Commands for running tests of a start state with Maven or Gradle, without coevo.

Surefire's version is fixed, since that of an old project may not support JUnit 5, nested classes or
parameters. If a POM adds libraries to surefire (for JUnit 5 before surefire 2.22, or for TestNG),
the fixed version fails because of them. Failsafe, which has the same runner, is used then, since it
has no such libraries. Plugins that check the text of a change are skipped, as in a cell.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath

from coevo.languages.declarations import DeclaredType
from coevo.languages.java.gradle import is_built_by_gradle, make_gradle_command, make_test_selection
from coevo.languages.java.reading.project_files import has_plugin_dependencies
from coevo.languages.located_types import repeat_method_for_running_classes
from coevo.languages.reading import RevisionTree
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod

SUREFIRE = 'org.apache.maven.plugins:maven-surefire-plugin:3.5.2:test'
FAILSAFE = 'org.apache.maven.plugins:maven-failsafe-plugin:3.5.2'
# Plugins that run before tests are compiled; Maven has no common switch for them.
CHECKS = ('checkstyle', 'enforcer', 'license', 'rat')
_SKIPS = tuple(f'-D{name}.skip' for name in CHECKS)


def add_commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: RevisionTree,
) -> Environment:
    """Return the environment with shell commands to compile the tests and to run `methods`.

    Without methods, the test command runs all tests of the file. A test of an abstract class is run
    by the concrete classes that inherit it.
    """
    runnable_methods = [
        runnable_method
        for method in methods
        for runnable_method in repeat_method_for_running_classes(tree, method, _is_concrete)
    ]
    if is_built_by_gradle(environment):
        return _add_gradle_commands(environment, module, test_file, runnable_methods)
    maven = ('mvn', '-B', *_list_module_options(module), *_SKIPS, 'test-compile')
    selected = ','.join(_format_class_selectors(runnable_methods)) or PurePosixPath(test_file).stem
    by_failsafe = any(
        _has_surefire_dependencies(tree, folder) for folder in _list_module_and_parents(module)
    )
    make = _make_failsafe_command if by_failsafe else _make_surefire_command
    return dataclasses.replace(
        environment, compile_command=shlex.join(maven), test_command=make(maven, module, selected)
    )


def _add_gradle_commands(
    environment: Environment, module: str, test_file: str, asked: Sequence[TestMethod]
) -> Environment:
    """Return the environment with Gradle's commands; Gradle itself fails if it selects no test."""
    selected = make_test_selection(asked) or ('--tests', f'*{PurePosixPath(test_file).stem}')
    return dataclasses.replace(
        environment,
        compile_command=shlex.join(make_gradle_command(module, 'testClasses')),
        test_command=shlex.join((*make_gradle_command(module, 'test'), *selected)),
    )


def _make_surefire_command(maven: Sequence[str], module: str, selected: str) -> str:
    words = (*maven, SUREFIRE, f'-Dtest={selected}')
    if module == '.':
        return shlex.join((*words, '-DfailIfNoTests=true'))
    return _add_report_check(words, '-Dsurefire.failIfNoSpecifiedTests=false', module, 'surefire')


def _make_failsafe_command(maven: Sequence[str], module: str, selected: str) -> str:
    goals = (f'{FAILSAFE}:integration-test', f'{FAILSAFE}:verify')
    words = (*maven, *goals, f'-Dit.test={selected}')
    return _add_report_check(words, '-Dfailsafe.failIfNoSpecifiedTests=false', module, 'failsafe')


def _add_report_check(words: Sequence[str], lenient: str, module: str, plugin: str) -> str:
    """Return a command that fails if none of the selected tests was found.

    Maven's own check applies to all modules, but those built only as dependencies contain none of
    the tests. Therefore the reports of the one module are checked.
    """
    reports = shlex.quote(str(PurePosixPath(module, f'target/{plugin}-reports')))
    line = shlex.join((*words, lenient))
    return f"rm -rf {reports} && {line} && grep -qs '<testcase' {reports}/*.xml"


def _list_module_options(module: str) -> tuple[str, ...]:
    """Return Maven's options to build a module with the modules that it needs; none for the root.

    The other modules are built, since package repositories may not offer them.
    """
    return () if module == '.' else ('-pl', module, '-am')


def _list_module_and_parents(module: str) -> tuple[PurePosixPath, ...]:
    """Return the module's folder and those above it, where its parent POMs usually are."""
    own = PurePosixPath(module)
    return (own, *own.parents)


def _has_surefire_dependencies(tree: RevisionTree, folder: PurePosixPath) -> bool:
    pom = str(folder / 'pom.xml')
    return pom in tree.entries and has_plugin_dependencies(
        tree.read_content(pom), 'maven-surefire-plugin'
    )


def _is_concrete(_path: str, type_: DeclaredType) -> bool:
    return not type_.abstract


def _format_class_selectors(methods: Sequence[TestMethod]) -> list[str]:
    """Return one text for each class that selects its methods: `pkg.ATest#a+a[*+b+b[*`.

    JUnit 4 reports a parameterized method once for each parameter set, as `a[0]`.
    """
    names: dict[str, dict[str, None]] = {}
    for method in methods:
        names.setdefault(method.test_class, {})[method.test_method] = None
    return [
        f'{owner}#{"+".join(f"{name}+{name}[*" for name in method_names)}'
        for owner, method_names in names.items()
    ]
