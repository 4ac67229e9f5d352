"""Names of a test method for pytest: its file, the class that declares it, its name."""

from __future__ import annotations

from coevo.languages.python.reading.places import module_name
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
    parts = module_name(method.test_file).split('.')
    for start in range(len(parts)):
        module = '.'.join(parts[start:])
        if text == module:
            return ''
        if text.startswith(f'{module}.'):
            return text[len(module) + 1 :]
    return text


def to_module_path(module: str, file: str) -> str:
    """Return the path of a file relative to the folder of its module.

    A path outside of this folder is returned as it is.
    """
    return file if module == '.' else file.removeprefix(f'{module}/')


def make_pytest_id(method: TestMethod) -> str:
    """Return the pytest node id of a test, relative to the folder of its module.

    Example: `test_a.py::TestB::test_c`.
    """
    file = to_module_path(method.module, method.test_file)
    owner = get_class_name(method).replace('.', '::')
    return '::'.join(filter(None, (file, owner, method.test_method)))
