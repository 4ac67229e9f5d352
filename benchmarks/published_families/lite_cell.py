"""Runs asserts, each in a process of its own: standard output is JSON, for each function what its asserts came to.

Runs in the sandbox, by itself. The published runner puts imports in front of each function; here these names are there
from the beginning.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import typing

SECONDS = 10
MODULES = {
    **{
        name: name
        for name in ('datetime', 'math', 'numpy', 'os', 'pandas', 'pytest', 'random', 're')
    },
    **{name: name for name in ('string', 'traceback', 'warnings')},
    'np': 'numpy',
    'pd': 'pandas',
}
TYPES = (
    *('Any', 'Callable', 'Dict', 'FrozenSet', 'Generator', 'Iterable', 'List', 'Optional'),
    *('Sequence', 'Set', 'Tuple', 'Union'),
)


def main() -> None:
    """A list of [code, asserts] in a file."""
    with open(sys.argv[1], encoding='utf-8') as file:  # noqa: PTH123 - it must start at once
        asked = json.load(file)
    known: dict[str, object] = {
        name: importlib.import_module(module) for name, module in MODULES.items()
    }
    known |= {name: getattr(typing, name) for name in TYPES}
    found = [[outcome(code, line, known) for line in asserts] for code, asserts in asked]
    json.dump(found, sys.stdout)


def outcome(code: str, line: str, known: dict[str, object]) -> str:
    """`pass`, the name of an exception, or `timeout`; a process that ends before it says so is `lost`."""
    way_out, way_in = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(way_out)
        _run(code, line, known, way_in)
    os.close(way_in)
    with os.fdopen(way_out, 'rb') as stream:
        said = stream.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return 'timeout'
    return said.decode() or 'lost'


def _run(code: str, line: str, known: dict[str, object], way_in: int) -> None:
    signal.alarm(SECONDS)
    with open(os.devnull, 'r+', encoding='utf-8') as nothing:  # noqa: PTH123
        for number in range(3):
            os.dup2(nothing.fileno(), number)
    names = {**known, '__name__': 'lite'}
    try:
        exec(compile(code, 'code', 'exec'), names)  # noqa: S102 - it is what is asked
        exec(compile(line, 'line', 'exec'), names)  # noqa: S102
    except BaseException as error:  # noqa: BLE001 - all that a function can raise is its answer
        os.write(way_in, type(error).__name__.encode())
    else:
        os.write(way_in, b'pass')
    os._exit(0)


if __name__ == '__main__':
    main()
