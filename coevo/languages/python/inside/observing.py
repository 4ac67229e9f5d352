"""Set the observer (`observer.c`) on the targets of a request before any project code runs."""

import ast
import importlib.machinery
import importlib.util
import opcode
import os
import sys
import sysconfig

_NAME = 'coevo_observer'
# The instruction at which a generator yields; since 3.13 it is the one at which it will resume.
_YIELDING = ('YIELD_VALUE', 'YIELD_FROM') + (('RESUME',) if sys.version_info >= (3, 13) else ())
# The instructions that return from a frame; up to 3.11 a profiler gets the returned value instead.
_RETURNING = ('RETURN_VALUE', 'RETURN_CONST') if sys.version_info >= (3, 12) else ()


def start_observer(request, folder, packages):
    """Load the observer and give it the targets and files to watch.

    Without a global interpreter lock nothing is observed: objects have another layout there.

    folder    the folder of coevo's programs
    packages  the folders of libraries, which are trusted as the environment is
    """
    order = request['observed']
    root = os.path.realpath(request['root'])
    targets = []
    for item, (file, owner, name) in enumerate(request['targets']):
        path = os.path.join(root, file)
        targets += [(path, name, line, item) for line in _find_first_lines(path, owner, name)]
    files = [(os.path.join(root, file), word, lines) for file, word, lines in order['files']]
    library = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
    trusted = tuple(
        item if item.endswith(os.sep) else item + os.sep for item in [library, folder, *packages]
    )
    if sysconfig.get_config_var('Py_GIL_DISABLED'):
        return  # objects have another layout there: nothing is observed
    observer = _load_observer(os.path.join(folder, 'observer.so'))
    observer.watch(
        order['descriptor'],
        order['bytes'],
        tuple(targets),
        tuple(files),
        trusted,
        _get_opcode_numbers(_RETURNING),
        _get_opcode_numbers(_YIELDING),
        opcode.opmap.get('YIELD_FROM', -1),
        (*_find_native_modules(root), *(os.path.join(root, path) for path in request['natives'])),
    )
    for name in (_NAME, '_ctypes'):  # the latter matters for 3.6 and 3.7 alone
        sys.modules.pop(name, None)


def _load_observer(path):
    loader = importlib.machinery.ExtensionFileLoader(_NAME, path)
    spec = importlib.util.spec_from_file_location(_NAME, path, loader=loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def _find_native_modules(root):
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            if name.endswith('.so'):
                yield os.path.join(folder, name)


def _get_opcode_numbers(names):
    return tuple(opcode.opmap[name] for name in names if name in opcode.opmap)


def _find_first_lines(path, owner, name):
    """Return the first lines of all functions of this name in a class, with the decorators.

    [] if the file cannot be parsed.

    owner  the qualified name of the class; '' for functions of the module
    """
    try:
        with open(path, 'rb') as source:
            tree = ast.parse(source.read())
    except (OSError, SyntaxError, ValueError, RecursionError):
        return []
    return sorted(set(_search_definitions(tree, owner.split('.') if owner else [], name)))


def _search_definitions(node, owners, name):
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            if owners and child.name == owners[0]:
                for line in _search_definitions(child, owners[1:], name):
                    yield line
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not owners and child.name == name:
                yield min([child.lineno] + [decorator.lineno for decorator in child.decorator_list])
        else:
            for line in _search_definitions(child, owners, name):
                yield line
