"""Imports files of Python projects, each in a process of its own: standard output is JSON, by path what each came to.

Runs in the sandbox, by itself.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def main() -> None:
    """The folder of all projects, then a file with the paths of their files."""
    top = sys.argv[1]
    with open(sys.argv[2], encoding='utf-8') as file:  # noqa: PTH123 - it must start at once
        paths = json.load(file)
    json.dump({path: loaded(top, path) for path in paths}, sys.stdout)


def loaded(top: str, path: str) -> str:
    """`loads`, or the name of an exception; a process that ends before it says so is `lost`."""
    way_out, way_in = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(way_out)
        _load(top, path, way_in)
    os.close(way_in)
    with os.fdopen(way_out, 'rb') as stream:
        said = stream.read()
    os.waitpid(child, 0)
    return said.decode() or 'lost'


def _load(top: str, path: str, way_in: int) -> None:
    """By both paths: files of a project say `from project.part import` or `from part import`."""
    project, *inner = path.removesuffix('.py').split('/')
    sys.path[:0] = [top, os.path.join(top, project)]  # noqa: PTH118
    is_package = os.path.exists(os.path.join(top, project, '__init__.py'))  # noqa: PTH110, PTH118
    parts = [project, *inner] if is_package else inner
    name = '.'.join(parts).removesuffix('.__init__')
    with open(os.devnull, 'r+', encoding='utf-8') as nothing:  # noqa: PTH123
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    os.chdir(os.path.join(top, project))  # noqa: PTH118
    try:
        importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001 - all that a module can raise is its answer
        os.write(way_in, f'{type(error).__name__}: {error}'.encode())
    else:
        os.write(way_in, b'loads')
    os._exit(0)


if __name__ == '__main__':
    main()
