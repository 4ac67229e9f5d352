"""A test method as pytest knows it: its file, the class that declares it, its name."""

from __future__ import annotations

from coevo.languages.python.reading.places import module_name
from coevo.model.records import TestMethod


def make_target(method: TestMethod) -> tuple[str, str, str]:
    """File, qualified name of the class ('' for a function of the module), function."""
    return method.test_file, get_class_name(method), method.test_method


def get_class_name(method: TestMethod) -> str:
    """What of `test_class` is a class: it starts with the name of the module, long or short."""
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
    """The path of a file from the folder of its module."""
    return file if module == '.' else file.removeprefix(f'{module}/')


def make_pytest_id(method: TestMethod) -> str:
    """What is given to pytest to run it, from its module's folder."""
    file = to_module_path(method.module, method.test_file)
    owner = get_class_name(method).replace('.', '::')
    return '::'.join(filter(None, (file, owner, method.test_method)))
