"""Find the declared test to which an item of pytest belongs.

Some decorators replace a test by others under new names: `test_x` under `parameterized.expand`
becomes `test_x_0` and `test_x_1`, which no file declares. They keep the function that they were
made of, as `functools.wraps` does (`__wrapped__`), or as pytest looks for it (`place_as`).
"""

import ast
import inspect
import os
import sys

_MOST_STEPS = 100


def find_original(value):
    """Return the function that a function was made of, or the function itself; None for no function."""
    value = getattr(value, '__func__', value)
    for _ in range(_MOST_STEPS):
        if not inspect.isfunction(value):
            return None
        inner = vars(value).get('place_as', vars(value).get('__wrapped__'))
        if inner is None:
            return value
        value = getattr(inner, '__func__', inner)
    return None


def find_original_name(value):
    """Return the name of the function that a function was made of; None for no function."""
    original = find_original(value)
    return original.__name__ if original is not None else None


class Origins:
    """The declarations of test functions, by the files of a tree; `root` is its folder."""

    def __init__(self, root):
        self.root = root
        self.declared = {}

    def find_identity(self, item):
        """Return the file, class and function that declare an item; None if none does.

        An inherited test is declared by the base class. A test that a decorator generates from a
        declared one, under another name, is declared by that one: `test_x_0` by `test_x` under
        `parameterized.expand`.
        """
        if getattr(item, 'obj', None) is None:
            return None
        name = getattr(item, 'originalname', None) or item.name.partition('[')[0]
        owner = getattr(item, 'cls', None)
        if owner is None:
            function = getattr(item, 'function', None)
            return self.find_declaration(function, self.make_relative(str(item.fspath)), '', name)
        for kind in owner.__mro__:
            if name in vars(kind):
                file = self.make_relative(_find_file(kind, vars(kind)[name], item))
                return self.find_declaration(vars(kind)[name], file, kind.__qualname__, name)
        return None

    def make_relative(self, path):
        """Return a path relative to the root; '' for none."""
        return os.path.relpath(os.path.realpath(path), self.root) if path else ''

    def find_declaration(self, function, file, owner, name):
        """Return the file, class and name of the declaration that a test function was made from.

        These are the given ones, unless the file declares no function of that name there, and
        another one there was what the test was made of. A function of a module may be made of one
        in another file.

        owner  the qualified name of the class; '' for a function of a module
        """
        original = find_original(function)
        if original is None or original.__name__ == name or self.is_declared(file, owner, name):
            return file, owner, name
        place = file if owner else self.make_relative(original.__code__.co_filename)
        if self.is_declared(place, owner, original.__name__):
            return place, owner, original.__name__
        return file, owner, name

    def is_declared(self, file, owner, name):
        """Return whether a file of the tree declares a function of this name in a class."""
        if file not in self.declared:
            self.declared[file] = _find_declared_names(os.path.join(self.root, file))
        return (owner + '.' + name if owner else name) in self.declared[file]


def _find_file(kind, value, item):
    """Return the path of the file that declares a class; '' if it is unknown.

    With `--import-mode=importlib` pytest before 7 keeps test modules out of `sys.modules`. Then the
    file is that of the test's function, or of the item if the test is no function.
    """
    module = sys.modules.get(kind.__module__)
    if module is not None:
        return getattr(module, '__file__', None) or ''
    original = find_original(value)
    return str(item.fspath) if original is None else original.__code__.co_filename


def _find_declared_names(path):
    """Return the qualified names of the functions that a file declares; none if it is unreadable."""
    try:
        with open(path, 'rb') as source:
            tree = ast.parse(source.read())
        return set(_search_names(tree, ''))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return set()


def _search_names(node, prefix):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            for name in _search_names(child, prefix + child.name + '.'):
                yield name
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield prefix + child.name
        else:
            for name in _search_names(child, prefix):
                yield name
