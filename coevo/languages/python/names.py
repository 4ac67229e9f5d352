"""Names of a test method for pytest: its file, the class that declares it, its name."""

from __future__ import annotations

from coevo.languages.python.reading.places import module_name
from coevo.model.records import TestMethod


def make_target(method: TestMethod) -> tuple[str, str, str]:
    """Return the file, the qualified class name ('' for a module's function) and the function."""
    return method.test_file, get_class_name(method), method.test_method


def get_class_name(method: TestMethod) -> str:
    """Return the class in `test_class`, without the name of the module, full or shortened."""
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
    """Return the path of a file relative to the folder of its module."""
    return file if module == '.' else file.removeprefix(f'{module}/')


def make_pytest_id(method: TestMethod) -> str:
    """Return the pytest node id of a test, relative to the folder of its module."""
    file = to_module_path(method.module, method.test_file)
    owner = get_class_name(method).replace('.', '::')
    return '::'.join(filter(None, (file, owner, method.test_method)))
