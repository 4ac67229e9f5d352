"""The place of an interpreter in the sandbox: its own path below /usr, else /python."""

from __future__ import annotations

from pathlib import Path

from coevo.languages.python.interpreters import Interpreter, ensure_readable_prefix
from coevo.languages.python.places import PYTHON
from coevo.sandboxes.sandbox import Mount

# The sandbox always shows the programs below this folder.
_SYSTEM = Path('/usr')


def get_sandbox_program(interpreter: Interpreter) -> str:
    """Return the path of an interpreter's program in the sandbox."""
    prefix = str(interpreter.prefix) if _is_system(interpreter) else PYTHON
    return f'{prefix}/{interpreter.name}'


def get_library_variables(interpreter: Interpreter) -> dict[str, str]:
    """Return the variables with which an interpreter finds its shared library in the sandbox.

    {} if it has its own path there.
    """
    return {} if _is_system(interpreter) else {'LD_LIBRARY_PATH': f'{PYTHON}/lib'}


def list_interpreter_mounts(interpreter: Interpreter) -> tuple[Mount, ...]:
    """Return the mounts that make an interpreter visible in the sandbox; () if it is below /usr.

    An interpreter in a closed folder is copied first.
    """
    if _is_system(interpreter):
        return ()
    return (Mount(source=ensure_readable_prefix(interpreter), target=PYTHON),)


def list_system_mounts(interpreter: Interpreter) -> tuple[Mount, ...]:
    """Return the files of an interpreter that lies below /usr, at their own paths; else ()."""
    if not _is_system(interpreter):
        return ()
    places = (interpreter.name, f'lib/python{interpreter.release}')
    paths = (interpreter.prefix / place for place in places)  # own name: a release of Python
    return tuple(Mount(source=path, target=str(path)) for path in paths)


def _is_system(interpreter: Interpreter) -> bool:
    return interpreter.prefix == _SYSTEM
