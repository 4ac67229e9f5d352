"""A test method as pytest knows it: its file, the class that declares it, its name."""

from __future__ import annotations

from coevo.languages.python.reading.places import module_name
from coevo.model.records import TestMethod


def target(method: TestMethod) -> tuple[str, str, str]:
    """File, qualified name of the class ('' for a function of the module), function."""
    return method.test_file, class_of(method), method.test_method


def class_of(method: TestMethod) -> str:
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


def in_module(module: str, file: str) -> str:
    """The path of a file from the folder of its module."""
    return file if module == '.' else file.removeprefix(f'{module}/')


def pytest_id(method: TestMethod) -> str:
    """What is given to pytest to run it, from its module's folder."""
    file = in_module(method.module, method.test_file)
    owner = class_of(method).replace('.', '::')
    return '::'.join(filter(None, (file, owner, method.test_method)))
