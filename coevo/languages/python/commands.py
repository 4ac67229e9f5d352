"""Names of a test method for pytest, and commands by which anyone runs the tests of a start state
with uv and pytest.
"""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Sequence

from coevo.languages.declarations import DeclaredType
from coevo.languages.located_types import repeat_method_for_running_classes
from coevo.languages.python.pytest_options import find_module_settings, list_needed_options
from coevo.languages.python.reading.module_paths import derive_module_name
from coevo.languages.python.reading.tests import is_collected
from coevo.languages.reading import RevisionTree
from coevo.model.pair_rows import Environment
from coevo.model.records import TestMethod


def make_target(method: TestMethod) -> tuple[str, str, str]:
    """Return the file, the qualified class name ('' for a module's function) and the function."""
    return method.test_file, get_class_name(method), method.test_method


def get_class_name(method: TestMethod) -> str:
    """Return the qualified name of a test's class, without that of its module; '' for a function.

    The module in `test_class` may be named in full or by the last parts of its name. Example:
    `tests.test_a$TestB$C` in `tests/test_a.py` gives `TestB.C`.
    """
    text = method.test_class.replace('$', '.')
    parts = derive_module_name(method.test_file).split('.')
    for start in range(len(parts)):
        module = '.'.join(parts[start:])
        if text == module:
            return ''
        if text.startswith(f'{module}.'):
            return text[len(module) + 1 :]
    return text


def get_path_within_module(module: str, file: str) -> str:
    """Return the path of a file relative to the folder of its module.

    A path outside of this folder is returned as it is.
    """
    return file if module == '.' else file.removeprefix(f'{module}/')


def make_pytest_id(method: TestMethod) -> str:
    """Return the pytest node id of a test, relative to the folder of its module.

    Example: `test_a.py::TestB::test_c`.
    """
    file = get_path_within_module(method.module, method.test_file)
    owner = get_class_name(method).replace('.', '::')
    return '::'.join(filter(None, (file, owner, method.test_method)))


# A start state has no tags, from which such projects derive their version.
_VERSIONS = 'SETUPTOOLS_SCM_PRETEND_VERSION=0 PBR_VERSION=0 PDM_BUILD_SCM_VERSION=0'


def add_commands(
    environment: Environment,
    module: str,
    test_file: str,
    methods: Sequence[TestMethod],
    tree: RevisionTree,
) -> Environment:
    """Return the environment with the commands that install it and that run the methods.

    Without methods, the second command runs the whole test file.

    module  the folder of the project, in which both commands run
    """
    folder = '' if module == '.' else f'cd {shlex.quote(module)} && '
    feature = '.'.join(environment.runtime.split('.')[:2])
    packages = shlex.join(item.coordinates for item in environment.libraries)
    file = get_path_within_module(module, test_file)

    def is_collected_type(path: str, type_: DeclaredType) -> bool:
        """Return whether pytest collects the tests of a class under the class's own name."""
        return is_collected(
            tree.parse_file(path),
            type_,
            lambda name: (located_type.type for located_type in tree.resolve_test_type(path, name)),
        )

    methods_to_run = [
        item
        for method in methods
        for item in repeat_method_for_running_classes(tree, method, is_collected_type)
    ]
    tests = shlex.join(dict.fromkeys(map(make_pytest_id, methods_to_run)) or (file,))

    settings = find_module_settings(tree.entries, tree.read_content, module)
    options = shlex.quote(f'addopts={shlex.join(list_needed_options(settings.options))}')
    return dataclasses.replace(
        environment,
        compile_command=f'{folder}uv venv --quiet --python {feature} .venv'
        f' && uv pip install --quiet --no-deps {packages}'
        f' && {_VERSIONS} uv pip install --quiet --no-deps --editable .',
        test_command=f'{folder}.venv/bin/python -m pytest -o {options} {tests}',
    )
